//! `agon image`: what strangers' bots see of the system.

use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_api::Contest;
use agon_bot::image::{Image, ImageError, ImageLanguage, ImageSet, Images};
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
        ImageError::Full { .. } | ImageError::Write(..) => Failure::own(error.to_string()),
        _ => Failure::usage(error.to_string()),
    }
}

fn shown(image: &Image, used: bool, chosen: Option<&ImageSet>) -> Result<json::ImageShown, Failure> {
    let (files, bytes) =
        image.size().map_err(|error| Failure::own(format!("{}: {error}", image.root().display())))?;
    Ok(json::ImageShown {
        image: image.hash.clone(),
        languages: image.set.closed(),
        added: image.set.added.iter().map(|path| path.display().to_string()).collect(),
        files,
        bytes,
        chosen: used
            && chosen.is_some_and(|chosen| {
                chosen.closed() == image.set.closed() && chosen.added == image.set.added
            }),
        used,
    })
}

fn list(images: &Images, as_json: bool) -> Done {
    let chosen = images.chosen();
    let all = images.list();
    let all = all.iter().map(|(image, used)| shown(image, *used, chosen.as_ref()));
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
    let all = image.languages.iter().chain(&image.added).map(|word| screen::harmless(word).to_string());
    let all = all.collect::<Vec<_>>().join(", ");
    if all.is_empty() { "a shell and the usual tools".to_owned() } else { all }
}

fn make(images: &Images, options: &BuildOptions, as_json: bool) -> Done {
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
    eprintln!("making an image: {}", screen::harmless(&set.words()));
    let made = images.make(&set).map_err(failed)?;
    images.choose(Some(&set)).map_err(failed)?;
    let image = shown(&made.image, true, Some(&set))?;
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
        made.took.as_secs_f64(),
        holds(&image)
    )?;
    writeln!(
        out,
        "Strangers' bots get it from now on. A bot that needs another language gets an image of its own.
For all bots of a contest, on all its machines, under [sandbox] in its contest.toml:
image = \"{}\"",
        image.image
    )?;
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
    images.keep(&name).map_err(failed)?;
    let image = shown(&*images.named(&name).map_err(failed)?, true, None)?;
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
