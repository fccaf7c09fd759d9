# What is proved inside the virtual machine, one line each: `vm: NAME: held`, or `FAILED` with the exit code.
# `cargo xtask long vm` sets AGON, TESTS (folder of test programs), BOT (a native bot that waits), BREEDERS, KILLS, MATCHES,
# MOMENTS and WANTED (part of the names of what is to be proved) in /vm/settings.
export PATH=/usr/bin HOME=/root NO_COLOR=1
. /vm/settings

busybox mount -t proc proc /proc
busybox --install -s /usr/bin
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts pts /dev/pts
chmod 1777 /tmp
# As systemd mounts it.
mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup
ip link set lo up
hostname vm
groups=/sys/fs/cgroup
echo "+cpu +memory +pids" > $groups/cgroup.subtree_control

# Runs a line as a user, in its own cgroup: one owned by root, as a login gives it, or (`delegated`) one handed to the user, as
# `Delegate=yes` does: by ownership, and for root by a mark. Anything left in the group is an error.
inside() {
    user=$1 kind=$2 line=$3
    unit=$groups/test.slice/unit-$((units += 1)).scope
    mkdir -p $unit
    echo "+cpu +memory +pids" > $groups/test.slice/cgroup.subtree_control
    if [ "$kind" = delegated ]; then
        [ $user = root ] && python3 -c "import os; os.setxattr('$unit', 'user.delegate', b'1')"
        chown $user $unit $unit/cgroup.procs $unit/cgroup.threads $unit/cgroup.subtree_control
    fi
    # The shell stays in it beside agon, as in a terminal.
    sh -c "echo \$\$ > $unit/cgroup.procs; su -s /bin/sh $user -c '$line'; exit \$?"
    code=$?
    # Its guard looks through what is left when agon is gone already.
    for again in 1 2 3 4 5 6 7 8 9 10; do
        left=$(find $unit -name cgroup.procs -exec cat {} + 2> /dev/null | wc -l)
        dirs=$(find $unit -mindepth 1 -type d -name 'agon-[0-9]*' 2> /dev/null | wc -l)
        [ $left = 0 ] && [ $dirs = 0 ] && break
        sleep 0.5
    done
    [ $left = 0 ] && [ $dirs = 0 ] || { echo "left in $unit: $left processes, $dirs groups"; return 99; }
    return $code
}

prove() {
    name=$1
    shift
    case "$name" in *"$WANTED"*) ;; *) return ;; esac
    echo "vm: $name: begins at $(cut -d' ' -f1 /proc/uptime) s"
    "$@"
    code=$?
    [ $code = 0 ] && echo "vm: $name: held" || echo "vm: $name: FAILED ($code)"
}

# Checks that `agon doctor` reports this level.
doctor() {
    inside $1 $2 "$AGON doctor" > /tmp/doctor
    grep -A99 containment /tmp/doctor
    grep -q "sandbox *level $3" /tmp/doctor
}

sandbox="TMPDIR=/tmp $TESTS/sandbox --test-threads=1 --nocapture"
attacks="$AGON sandbox test --controls"
fairness="$AGON sandbox test --fairness"
contained="AGON_NATIVE_BOT=$BOT AGON_BREEDERS=$BREEDERS AGON_KILLS=$KILLS AGON_MATCHES=$MATCHES AGON_MOMENTS=$MOMENTS
    $TESTS/alone containment:: --test-threads=1 --nocapture"
contained=$(echo $contained)

uname -r
for who in "root delegated A" "user delegated A" "user login B"; do
    set -- $who
    prove "$1-$2: level $3" doctor $1 $2 $3
    prove "$1-$2: attacks and their controls" inside $1 $2 "$attacks"
    prove "$1-$2: attacks on fairness" inside $1 $2 "$fairness"
    prove "$1-$2: counters, freezing, ends" inside $1 $2 "$sandbox"
    prove "$1-$2: bots that breed and hide, kills of agon, many matches" inside $1 $2 "$contained"
done
prove "root-login: level B" doctor root login B
echo "vm: everything was run"
poweroff -f
