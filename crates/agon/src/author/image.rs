//! `agon image`: what strangers' bots see of the system.

use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_api::Contest;
use agon_bot::image::{
    Image, ImageError, ImageLanguage, ImagePackage, ImageSet, Images, NewImage, PackageManager,
};
use clap::{Args, Subcommand};

use crate::author::json;
use crate::common::online::OnlineOptions;
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure, screen};

/// Examples for the help.
pub const EXAMPLES: &str =
    "Bots of others, and their builds, see an image in place of this machine's programs: a copy of what
their languages need, which nothing changes any more. It is made when it is first needed.

Examples:
  agon image                            which there are, and what they take
  agon image build                      one of all languages installed here, for all strangers
  agon image build Python C++           one with these
  agon image build --add /usr/bin/jq    and with a program besides
  agon image build Python --pip numpy==1.26.4         and with a package of pip
  agon image build JavaScript --npm left-pad@1.3.0    and with one of npm
  agon image build --from image.tar     one of a container's files, as docker save, podman save
                                        --format oci-archive and docker export write them
  agon image get https://cup.example    that of a contest, for `agon play --as https://cup.example`
  agon image rm 3f9c                    remove the one whose name begins so
  agon image rm --choice                from now on each bot gets an image of what it needs";

/// `agon image ...`.
#[derive(Args, Debug)]
pub struct ImageOptions {
    #[command(subcommand)]
    command: Option<ImageCommand>,
    /// Prints them as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum ImageCommand {
    /// Make an image, and give it to all strangers whose bots it suffices for
    Build(BuildOptions),
    /// Fetch the image of a contest, so that `--as URL` plays in it: works here means works there
    Get(GetOptions),
    /// Remove images
    Rm(RemoveOptions),
}

#[derive(Args, Debug)]
struct GetOptions {
    /// The contest's address, where you are logged in [default: that of the last `agon login`]
    #[arg(value_name = "URL")]
    contest: Option<String>,
    #[command(flatten)]
    online: OnlineOptions,
}

#[derive(Args, Debug)]
struct BuildOptions {
    /// Languages [default: all that are installed here]
    #[arg(value_name = "LANG")]
    languages: Vec<String>,
    /// A program, or a folder of files, that it holds besides, at the same path
    #[arg(long, value_name = "PATH")]
    add: Vec<PathBuf>,
    /// Packages of pip that it holds besides, in one version each, with what they need: NAME==VERSION, or a wheel.
    /// This machine's pip gets them, as its settings say (PIP_INDEX_URL, PIP_FIND_LINKS), as wheels only: nothing of them is run
    #[arg(long, value_name = "NAME==VERSION", num_args = 1..)]
    pip: Vec<String>,
    /// Packages of npm, likewise: NAME@VERSION, or a .tgz. Their scripts are not run
    #[arg(long, value_name = "NAME@VERSION", num_args = 1..)]
    npm: Vec<String>,
    /// An archive to make it of, in place of this machine's files: an OCI archive, what `docker save` writes, or a tar of a root
    /// file system; plain, or compressed with gzip or zstd. It is for the languages whose programs are found in it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["languages", "add", "pip", "npm"])]
    from: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct RemoveOptions {
    /// Beginnings of their names
    #[arg(value_name = "IMAGE", required_unless_present_any = ["old", "choice"])]
    images: Vec<String>,
    /// All that nothing uses any more: their languages were installed anew
    #[arg(long)]
    old: bool,
    /// What `agon image build` chose for all strangers. The image stays
    #[arg(long)]
    choice: bool,
}

/// Runs `agon image ...`.
pub fn run(options: &ImageOptions) -> Done {
    let images = Images::own();
    match &options.command {
        None => list(&images, options.json),
        Some(ImageCommand::Build(build)) => make(&images, build, options.json),
        Some(ImageCommand::Get(get)) => fetch(&images, get, options.json),
        Some(ImageCommand::Rm(remove)) => self::remove(&images, remove),
    }
}

fn failed(error: ImageError) -> Failure {
    match error {
        ImageError::Full { .. } | ImageError::Write(..) | ImageError::Manager(..) => {
            Failure::own(error.to_string())
        }
        _ => Failure::usage(error.to_string()),
    }
}

fn shown(image: &Image, used: bool, chosen: &[ImageSet]) -> Result<json::ImageShown, Failure> {
    let (files, bytes) =
        image.size().map_err(|error| Failure::own(format!("{}: {error}", image.root().display())))?;
    Ok(json::ImageShown {
        image: image.hash.clone(),
        languages: image.set.closed(),
        added: image.set.added.iter().map(|path| path.display().to_string()).collect(),
        from: image.set.from.clone(),
        packages: packages(image)?,
        files,
        bytes,
        chosen: used
            && chosen
                .iter()
                .any(|chosen| chosen.closed() == image.set.closed() && is_alike(chosen, &image.set)),
        used,
    })
}

/// Whether two sets have the same besides their languages.
fn is_alike(one: &ImageSet, other: &ImageSet) -> bool {
    let parts = |set: &ImageSet| (set.added.clone(), set.from.clone(), set.packages.clone());
    parts(one) == parts(other)
}

fn packages(image: &Image) -> Result<Vec<json::PackageShown>, Failure> {
    let all = image.packages().map_err(failed)?.into_iter();
    let all = all.map(|held| json::PackageShown {
        manager: held.manager,
        name: held.name,
        version: held.version,
        licence: held.licence,
        bytes: held.bytes,
    });
    Ok(all.collect())
}

fn list(images: &Images, as_json: bool) -> Done {
    let chosen = images.chosen();
    let all = images.list();
    let all = all.iter().map(|(image, used)| shown(image, *used, &chosen));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let mut out = io::stdout().lock();
    if as_json {
        return common::print_json(&mut out, &all);
    }
    if all.is_empty() {
        writeln!(
            out,
            "There are no images. One is made when a stranger's bot first needs it; `agon image build` makes one now."
        )?;
        return Ok(());
    }
    let mut table = Table::new().names("image").numbers("MB", 0).numbers("files", 1).names("holds").names("");
    for image in &all {
        let note = match (image.chosen, image.used) {
            (true, _) => "for all strangers",
            (_, true) => "",
            _ => "old",
        };
        table.row(vec![
            Cell::from(image.image[..12].to_owned()),
            Cell::from((image.bytes >> 20).to_string()),
            Cell::from(image.files.to_string()),
            Cell::from(holds(image)),
            Cell::from(note.to_owned()),
        ]);
    }
    writeln!(out, "{}", table.text(screen::room()))?;
    if all.iter().any(|image| !image.used) {
        writeln!(
            out,
            "\nWhat is old was made from programs that have been installed anew since: agon image rm --old"
        )?;
    }
    Ok(())
}

fn holds(image: &json::ImageShown) -> String {
    let words = image.languages.iter().chain(&image.added).map(|word| screen::harmless(word).to_string());
    let packages = match image.packages.len() {
        0 => None,
        1 => Some("1 package".to_owned()),
        count => Some(format!("{count} packages")),
    };
    let all = words.chain(packages).collect::<Vec<_>>().join(", ");
    let all = if all.is_empty() { "a shell and the usual tools".to_owned() } else { all };
    match &image.from {
        Some(from) => format!("{all} of {}", screen::harmless(from)),
        None => all,
    }
}

/// The set that was asked for.
fn wanted(options: &BuildOptions) -> Result<ImageSet, Failure> {
    let mut set = match options.languages.is_empty() {
        true => ImageSet::installed(),
        false => ImageSet::default(),
    };
    for name in &options.languages {
        let language = ImageLanguage::named(name).ok_or_else(|| failed(ImageError::Unknown(name.clone())))?;
        set.languages.insert(language.name.to_owned());
    }
    for path in &options.add {
        let path = std::path::absolute(path)?;
        set.added.insert(path);
    }
    for (manager, typed) in [(PackageManager::Pip, &options.pip), (PackageManager::Npm, &options.npm)] {
        for package in typed {
            set.packages.insert(ImagePackage::new(manager, package).map_err(failed)?);
            set.languages.insert(manager.language().to_owned());
        }
    }
    Ok(set)
}

fn make(images: &Images, options: &BuildOptions, as_json: bool) -> Done {
    let NewImage { image, took } = match &options.from {
        Some(archive) => {
            eprintln!("making an image: {}", screen::harmless(&archive.display().to_string()));
            images.import(archive).map_err(failed)?
        }
        None => {
            let set = wanted(options)?;
            eprintln!("making an image: {}", screen::harmless(&set.words()));
            images.make(&set).map_err(failed)?
        }
    };
    images.choose(Some(&image.set)).map_err(failed)?;
    if !image.runs_agon() {
        eprintln!(
            "agon itself cannot run in it, which has another C library: scripts that agon runs itself and bots that dial in cannot be \
             played in it. One made of Debian or Ubuntu has the same."
        );
    }
    let image = shown(&image, true, std::slice::from_ref(&image.set))?;
    let mut out = io::stdout().lock();
    if as_json {
        return common::print_json(&mut out, &image);
    }
    writeln!(
        out,
        "{}  {} MB in {} files, {:.1} s: {}",
        &image.image[..12],
        image.bytes >> 20,
        image.files,
        took.as_secs_f64(),
        holds(&image)
    )?;
    print_packages(&mut out, &image)?;
    writeln!(
        out,
        "Strangers' bots get it from now on. A bot that needs another language gets an image of its own.
For all bots of a contest, on all its machines, under [sandbox] in its contest.toml:
image = \"{}\"",
        image.image
    )?;
    Ok(())
}

/// What managers of packages brought, with their licences.
fn print_packages(out: &mut impl io::Write, image: &json::ImageShown) -> Done {
    if image.packages.is_empty() {
        return Ok(());
    }
    let mut table = Table::new().names("package").names("version").names("licence").numbers("kB", 3);
    for package in &image.packages {
        let harmless = |text: &str| Cell::from(screen::harmless(text).to_string());
        table.row(vec![
            harmless(&package.name),
            harmless(&package.version),
            harmless(package.licence.as_deref().unwrap_or("not stated")),
            Cell::from(package.bytes.div_ceil(1000).to_string()),
        ]);
    }
    writeln!(out, "{}", table.text(screen::room()))?;
    Ok(())
}

/// Fetches what is missing of a contest's image.
fn fetch(images: &Images, options: &GetOptions, as_json: bool) -> Done {
    let mut online = options.online.clone();
    online.url = options.contest.clone().or(online.url);
    let online = online.connect()?;
    let contest: Contest = online.get("/contest", &[])?;
    let name = contest.machine.image.ok_or_else(|| {
        Failure::usage(format!(
            "{} names no image: each of its machines makes one of what a bot needs, as `--sandbox stranger` does here",
            screen::harmless(&contest.title)
        ))
    })?;
    online.fetch_image(&name, &mut |line| eprintln!("{line}"))?;
    let image = shown(&*images.named(&name).map_err(failed)?, true, &[])?;
    let mut out = io::stdout().lock();
    if as_json {
        return common::print_json(&mut out, &image);
    }
    writeln!(
        out,
        "{}  {} MB in {} files: {}",
        &image.image[..12],
        image.bytes >> 20,
        image.files,
        holds(&image)
    )?;
    print_packages(&mut out, &image)?;
    writeln!(out, "`--as {}` plays in it from now on.", online.address.0)?;
    Ok(())
}

fn remove(images: &Images, options: &RemoveOptions) -> Done {
    let mut out = io::stdout().lock();
    if options.choice {
        images.choose(None).map_err(failed)?;
        writeln!(out, "From now on each stranger's bot gets an image of what it needs.")?;
    }
    let old = || images.list().into_iter().filter(|(_, used)| !used).map(|(image, _)| image.hash);
    let mut names = options.images.clone();
    if options.old {
        names.extend(old());
    }
    for name in &names {
        let removed = images.remove(name).map_err(failed)?;
        writeln!(out, "{} was removed", &removed[..12])?;
    }
    if options.old && names.is_empty() {
        writeln!(out, "There are no old images.")?;
    }
    Ok(())
}
