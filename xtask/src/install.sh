#!/bin/sh
# Installs agon from the archive that this file lies in, says each file before it writes it, and takes all of it away again.
#
#   ./install.sh [--prefix FOLDER] [--dry-run]
#   ./install.sh --uninstall [--prefix FOLDER] [--dry-run]
#
# Without --prefix: ~/.local, and /usr/local for root. A file that it did not write itself is never replaced. What it wrote is listed
# in FOLDER/share/agon/installed, and FOLDER/share/agon/uninstall.sh takes it away when the archive is gone.
set -eu

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
wrong() { printf 'error: %s; --help says what there is\n' "$*" >&2; exit 2; }
run() { [ "$dry" = yes ] || "$@"; }

prefix='' dry=no act=install
here=$(cd "$(dirname "$0")" && pwd)
case ${0##*/} in uninstall.sh) act=uninstall prefix=$(cd "$here/../.." && pwd) ;; esac
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -ge 2 ] || wrong '--prefix needs a folder'; prefix=$2; shift ;;
        --prefix=*) prefix=${1#--prefix=} ;;
        --uninstall) act=uninstall ;;
        --dry-run) dry=yes ;;
        -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) wrong "unknown option $1" ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?is not set: say --prefix FOLDER}/.local; fi
fi
case $prefix in /*) ;; *) prefix=$(pwd)/$prefix ;; esac
# Its lines: `file PATH`, `folder PATH`; a folder is there if it was made for a file.
list=$prefix/share/agon/installed

if [ "$act" = uninstall ]; then
    [ -f "$list" ] || fail "nothing is installed below $prefix: there is no $list (--prefix says where to look)"
    old=$(mktemp)
    trap 'rm -f "$old"' EXIT
    cp "$list" "$old"
    sed -n 's/^file //p' "$old" | while read -r path; do
        if [ -e "$path" ] || [ -L "$path" ]; then say "removes  $path"; run rm -f "$path"; fi
    done
    # Those within others first.
    sed -n 's/^folder //p' "$old" | sort -r | while read -r path; do
        if [ "$dry" = yes ]; then say "removes  $path/, if it is empty then"
        elif rmdir "$path" 2>/dev/null; then say "removes  $path/"; fi
    done
    say ''
    [ "$dry" = no ] || { say 'Nothing was removed (--dry-run).'; exit 0; }
    say 'Contests, bots, replays and series stay where you had them made.'
    cache=${AGON_CACHE:-${XDG_CACHE_HOME:-${HOME:-/}/.cache}/agon} logins=${XDG_CONFIG_HOME:-${HOME:-/}/.config}/agon
    if [ -d "$cache" ]; then say "So do builds and images:  chmod -R u+w '$cache'; rm -r '$cache'"; fi
    if [ -d "$logins" ]; then say "So do logins at contests: rm -r '$logins'"; fi
    exit 0
fi

[ -f "$here/agon" ] || fail "$here/agon is not there: run the install.sh of an unpacked archive"
"$here/agon" --version >/dev/null 2>&1 ||
    fail "$here/agon does not run on this machine ($(uname -sm)): take the archive for its kind"

# Each line: a file of the archive, and its place below the prefix.
plan() {
    say 'agon bin/agon'
    for page in "$here"/man/*.1; do say "man/${page##*/} share/man/man1/${page##*/}"; done
    say 'completions/agon.bash share/bash-completion/completions/agon'
    say 'completions/_agon share/zsh/site-functions/_agon'
    say 'completions/agon.fish share/fish/vendor_completions.d/agon.fish'
    for text in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE NOTICE THIRD-PARTY.txt; do say "$text share/doc/agon/$text"; done
    say 'install.sh share/agon/uninstall.sh'
}

# Nothing is written before it is known that all of it may be.
plan | while read -r from to; do
    [ -f "$here/$from" ] || fail "$here/$from is not there: unpack the archive again"
    if [ -e "$prefix/$to" ] || [ -L "$prefix/$to" ]; then
        grep -qxF "file $prefix/$to" "$list" 2>/dev/null ||
            fail "$prefix/$to is there and was not written by this: remove it, or say another --prefix"
    fi
done

new=$(mktemp)
trap 'rm -f "$new"' EXIT
if [ -f "$list" ]; then grep '^folder ' "$list" >"$new" || :; fi
folder() {
    if [ -d "$1" ] || grep -qxF "folder $1" "$new"; then return 0; fi
    folder "$(dirname "$1")"
    say "folder $1" >>"$new"
    say "makes    $1/"
    run mkdir "$1"
    run chmod 755 "$1"
}
folder "${list%/*}"
say "file $list" >>"$new"
plan | while read -r _ to; do
    folder "$prefix/$(dirname "$to")"
    say "file $prefix/$to" >>"$new"
done
# First the list, with what an earlier installation wrote: one that is stopped is taken away as well.
say "writes   $list"
if [ "$dry" = no ]; then
    if [ -f "$list" ]; then sort -u "$new" "$list" >"$list.new"; else sort -u "$new" >"$list.new"; fi
    chmod 644 "$list.new"
    mv "$list.new" "$list"
fi
plan | while read -r from to; do
    say "writes   $prefix/$to"
    case $to in bin/* | *.sh) mode=755 ;; *) mode=644 ;; esac
    # A program that runs is not written over: the new one takes its place.
    run cp "$here/$from" "$prefix/$to.new"
    run chmod "$mode" "$prefix/$to.new"
    run mv "$prefix/$to.new" "$prefix/$to"
done
if [ -f "$list" ]; then
    sed -n 's/^file //p' "$list" | while read -r path; do
        if ! grep -qxF "file $path" "$new" && [ -e "$path" ]; then say "removes  $path"; run rm -f "$path"; fi
    done
fi
run cp "$new" "$list"

say ''
[ "$dry" = no ] || { say 'Nothing was written (--dry-run).'; exit 0; }
case :$PATH: in
    *:"$prefix/bin":*) say 'Begin:        agon new cultist-wars python my-bot' ;;
    *) say "Begin:        $prefix/bin/agon new cultist-wars python my-bot"
       say "To type agon: export PATH=\"$prefix/bin:\$PATH\", in your shell's profile" ;;
esac
say "Take it away: $prefix/share/agon/uninstall.sh"
