//! What an image holds of a language: its programs, and of the folders beside them what is executed and linked.
//!
//! Nothing of what a tool writes when it is used, no documentation, no packages that somebody added. The libraries that
//! programs load are not listed: they follow from the programs themselves.

/// What an image holds of a language.
#[derive(Debug)]
pub struct ImageLanguage {
    /// As in the list of [tools](crate::tools::TOOLS).
    pub name: &'static str,
    /// Programs on the path. The first is the language's own: without it the language is not installed.
    pub programs: &'static [&'static str],
    /// Below the folder that the first program is installed in (`/usr`, a JDK). `NAME` stands for that program's real file
    /// name (`python3.11`), `ARCH` for this machine (`x86_64-linux-gnu`), `PROCESSOR` for its first word, a `*` for anything in a name.
    pub parts: &'static [&'static str],
    /// Elsewhere in the system.
    pub system: &'static [&'static str],
    /// Names within those that are left out.
    pub without: &'static [&'static str],
    /// Languages that it needs to work.
    pub needs: &'static [&'static str],
}

/// What every image holds: a shell and the usual tools for files and texts, and the libraries that compiled bots load.
pub const BASE: ImageLanguage = ImageLanguage {
    name: "base",
    programs: &[
        "[",
        "sh",
        "bash",
        "dash",
        "env",
        "arch",
        "awk",
        "gawk",
        "mawk",
        "base64",
        "basename",
        "bc",
        "bzip2",
        "cat",
        "chmod",
        "cksum",
        "clear",
        "cmp",
        "comm",
        "cp",
        "csplit",
        "cut",
        "date",
        "dd",
        "df",
        "diff",
        "dirname",
        "du",
        "echo",
        "egrep",
        "expand",
        "expr",
        "factor",
        "false",
        "fgrep",
        "file",
        "find",
        "fmt",
        "fold",
        "free",
        "getconf",
        "getopt",
        "grep",
        "groups",
        "gunzip",
        "gzip",
        "head",
        "hexdump",
        "hostname",
        "id",
        "install",
        "join",
        "kill",
        "ldd",
        "less",
        "link",
        "ln",
        "locale",
        "logname",
        "ls",
        "md5sum",
        "mkdir",
        "mkfifo",
        "mktemp",
        "more",
        "mv",
        "nice",
        "nl",
        "nohup",
        "nproc",
        "numfmt",
        "od",
        "paste",
        "patch",
        "pgrep",
        "pkill",
        "pr",
        "printenv",
        "printf",
        "ps",
        "pwd",
        "readlink",
        "realpath",
        "rev",
        "rm",
        "rmdir",
        "sed",
        "seq",
        "setsid",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "shuf",
        "sleep",
        "sort",
        "split",
        "stat",
        "stdbuf",
        "stty",
        "sum",
        "sync",
        "tac",
        "tail",
        "tar",
        "taskset",
        "tee",
        "test",
        "timeout",
        "touch",
        "tr",
        "true",
        "truncate",
        "tsort",
        "tty",
        "uname",
        "unexpand",
        "uniq",
        "unlink",
        "unxz",
        "unzip",
        "uptime",
        "users",
        "vdir",
        "wc",
        "which",
        "who",
        "whoami",
        "xargs",
        "xxd",
        "xz",
        "yes",
        "zcat",
        "zip",
    ],
    parts: &[],
    system: &[
        "/usr/lib/locale/C.*",
        "/usr/share/zoneinfo",
        "/usr/libexec/coreutils",
        "/lib/terminfo",
        "/usr/share/terminfo/x/xterm*",
        "/usr/lib/ARCH/gconv/gconv-modules*",
        "/usr/lib/ARCH/gconv/UTF-*.so",
        "/usr/lib/ARCH/gconv/UNICODE.so",
        "/usr/lib/ARCH/gconv/ISO8859-1.so",
        "/usr/lib/ARCH/gconv/ISO8859-15.so",
        "/usr/lib/ARCH/gconv/CP1252.so",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/timezone",
    ],
    without: &["posix", "right"],
    needs: &[],
};

/// Libraries that are in every image: those of the C library, which programs also load by name, and those that compiled
/// bots are usually linked with.
pub const LIBRARIES: &[&str] = &[
    "libc.so.6",
    "libm.so.6",
    "libmvec.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libutil.so.1",
    "libresolv.so.2",
    "libanl.so.1",
    "libnss_files.so.2",
    "libnss_compat.so.2",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libatomic.so.1",
    "libgomp.so.1",
    "libcrypt.so.1",
    "libz.so.1",
    // The other C library, which is its own loader, where this machine has it.
    "ld-musl-x86_64.so.1",
    "ld-musl-aarch64.so.1",
];

const fn language(
    name: &'static str,
    programs: &'static [&'static str],
    parts: &'static [&'static str],
) -> ImageLanguage {
    ImageLanguage { name, programs, parts, system: &[], without: &[], needs: &[] }
}

/// All languages that images are made of.
pub const LANGUAGES: &[ImageLanguage] = &[
    ImageLanguage {
        without: &[
            "test",
            "tests",
            "idlelib",
            "turtledemo",
            "tkinter",
            "_tkinter*",
            "ensurepip",
            "site-packages",
            "dist-packages",
            "config-*",
            "*.a",
        ],
        ..language("Python", &["python3", "python"], &["lib/NAME", "include/NAME/pyconfig.h", "pyvenv.cfg"])
    },
    ImageLanguage {
        system: &["/usr/share/nodejs", "/usr/share/node_modules"],
        without: &["docs", "man", "typescript"],
        ..language("JavaScript", &["node", "nodejs", "npm", "npx"], &[])
    },
    ImageLanguage { needs: &["JavaScript"], ..language("TypeScript", &["tsc", "ts-node"], &[]) },
    language("Deno", &["deno"], &[]),
    language("Bun", &["bun"], &[]),
    ImageLanguage {
        without: &["src.zip", "classes_nocoops.jsa", "*.debuginfo"],
        ..language("Java", &["java", "javac", "jar"], &["bin", "lib", "conf", "jre", "release"])
    },
    ImageLanguage {
        system: &["/etc/maven/m2.conf", "/etc/maven/logging"],
        needs: &["Java"],
        ..language("Maven", &["mvn"], &["boot", "lib", "bin", "conf/logging"])
    },
    ImageLanguage { needs: &["Java"], ..language("Kotlin", &["kotlinc", "kotlin"], &["lib", "build.txt"]) },
    ImageLanguage {
        system: &[
            "/usr/lib/gcc/ARCH/*",
            "/usr/include/*.h",
            "/usr/include/c++",
            "/usr/include/linux",
            "/usr/include/asm*",
            "/usr/include/bits",
            "/usr/include/gnu",
            "/usr/include/sys",
            "/usr/include/arpa",
            "/usr/include/net",
            "/usr/include/netinet",
            "/usr/include/protocols",
            "/usr/include/rpc",
            "/usr/include/ARCH/a.out.h",
            "/usr/include/ARCH/asm",
            "/usr/include/ARCH/bits",
            "/usr/include/ARCH/c++",
            "/usr/include/ARCH/fpu_control.h",
            "/usr/include/ARCH/gnu",
            "/usr/include/ARCH/ieee754.h",
            "/usr/include/ARCH/sys",
            "/usr/lib/ARCH/libanl.*",
            "/usr/lib/ARCH/libcrypt.*",
            "/usr/lib/ARCH/libg.*",
            "/usr/lib/ARCH/libresolv.*",
            "/usr/lib/ARCH/libz.*",
            "/usr/lib/ARCH/bfd-plugins",
            "/usr/lib/ARCH/ldscripts",
            "/usr/share/cmake*",
        ],
        without: &[
            "plugin",
            "cc1obj*",
            "f951",
            "d21",
            "gnat*",
            "g++-mapper-server",
            "install-tools",
            "32",
            "x32",
            "lto-dump",
            "lib*san*",
            "Help",
            "editors",
        ],
        needs: &["C linker"],
        ..language(
            "C++",
            &[
                "g++",
                "gcc",
                "c++",
                "cc",
                "cpp",
                "as",
                "ld",
                "ld.bfd",
                "ar",
                "nm",
                "ranlib",
                "strip",
                "objcopy",
                "gcc-ar",
                "make",
                "gmake",
                "cmake",
                "ninja",
                "pkg-config",
            ],
            &[],
        )
    },
    // What compilers of other languages end with. The compilers of C themselves are ten times as large.
    ImageLanguage {
        system: &[
            "/usr/lib/gcc/ARCH/*/collect2",
            "/usr/lib/gcc/ARCH/*/crt*.o",
            "/usr/lib/gcc/ARCH/*/libgcc*",
            "/usr/lib/gcc/ARCH/*/liblto_plugin.so",
            "/usr/lib/gcc/ARCH/*/lto-wrapper",
            "/usr/lib/ARCH/*crt*.o",
            "/usr/lib/ARCH/lib*_nonshared.a",
            "/usr/lib/ARCH/libc.*",
            "/usr/lib/ARCH/libdl.*",
            "/usr/lib/ARCH/libm.*",
            "/usr/lib/ARCH/libm-*",
            "/usr/lib/ARCH/libmvec.*",
            "/usr/lib/ARCH/libpthread.*",
            "/usr/lib/ARCH/librt.*",
            "/usr/lib/ARCH/libutil.*",
            "/usr/lib64/*crt*.o",
            "/usr/lib64/lib*_nonshared.a",
            "/usr/lib64/libc.*",
            "/usr/lib64/libm.*",
        ],
        ..language("C linker", &["gcc", "cc", "ld", "ld.bfd"], &[])
    },
    ImageLanguage {
        needs: &["C linker"],
        without: &[
            "*.dwp",
            "*codegen-backends",
            "rustc_src",
            "src",
            "librustc-nightly_rt*",
            "*_rt.*san.a",
            "libtest-*",
            "libgetopts-*",
            "wasm-*",
            "lld-link",
            "ld64.lld",
        ],
        ..language(
            "Rust",
            &["rustc", "cargo"],
            &[
                "lib/librustc_driver*",
                "lib/libLLVM*",
                "lib/rustlib/PROCESSOR-*-linux-*/lib",
                "lib/rustlib/PROCESSOR-*-linux-*/bin",
            ],
        )
    },
    ImageLanguage {
        without: &["*_test.go", "testdata", "doc", "misc", "api"],
        needs: &["C++"],
        ..language("Go", &["go", "gofmt"], &["bin", "pkg", "src", "lib", "VERSION", "go.env"])
    },
    language("C#", &["dotnet"], &["host", "shared", "sdk", "sdk-manifests", "packs", "templates"]),
    ImageLanguage {
        system: &["/usr/lib/mono", "/usr/lib/libmono*", "/etc/mono"],
        ..language("C# (Mono)", &["mcs", "mono", "csc"], &[])
    },
    ImageLanguage {
        system: &["/usr/lib/ARCH/ruby", "/usr/share/rubygems-integration"],
        ..language("Ruby", &["ruby"], &["lib/ruby"])
    },
    ImageLanguage {
        system: &["/usr/lib/php", "/etc/php", "/usr/share/php"],
        ..language("PHP", &["php"], &[])
    },
    ImageLanguage {
        system: &["/usr/share/perl", "/usr/share/perl5", "/usr/lib/ARCH/perl*"],
        without: &["*.pod", "pod", "CORE"],
        ..language("Perl", &["perl"], &["lib/perl5"])
    },
    ImageLanguage {
        system: &["/usr/share/lua", "/usr/lib/ARCH/lua"],
        ..language("Lua", &["lua", "luajit"], &[])
    },
    ImageLanguage {
        without: &["git-http-*", "git-imap-send", "git-daemon", "git-remote-*", "git-shell"],
        ..language("git", &["git"], &["lib/git-core", "libexec/git-core", "share/git-core"])
    },
];

impl ImageLanguage {
    /// The language of a program, by its name (`python3.11`); none if it is no language's.
    pub fn of_program(name: &str) -> Option<&'static Self> {
        let versionless =
            name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
        let exact = LANGUAGES.iter().find(|language| language.programs.contains(&name));
        exact.or_else(|| LANGUAGES.iter().find(|language| language.programs.contains(&versionless)))
    }

    /// Whether each image of the languages that a bot names holds a program of this name, if this machine has it.
    pub fn holds(name: &str) -> bool {
        BASE.programs.contains(&name) || Self::of_program(name).is_some()
    }

    /// The language of this name, written in any case.
    pub fn named(name: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.name.eq_ignore_ascii_case(name)).or_else(|| {
            let other = match &*name.to_ascii_lowercase() {
                "c" | "cpp" | "gcc" => "C++",
                "js" | "node" | "npm" => "JavaScript",
                "ts" => "TypeScript",
                "csharp" | ".net" | "mono" => "C#",
                "cargo" => "Rust",
                "py" | "python3" => "Python",
                _ => return None,
            };
            LANGUAGES.iter().find(|language| language.name == other)
        })
    }
}
