//! Chunks: `tag, flags, raw length, stored length, payload, check`.
//!
//! Lengths are varints. Flag bit 0 marks the payload as a zstd frame. The check is the low half of the XXH3
//! of tag, flags and stored payload, little endian: it detects accidents, not forgeries.

use std::io::{self, Write};

use agon_game::pack::{Reader, put_varint};
use xxhash_rust::xxh3::Xxh3;

use crate::packing;

/// The largest size of a chunk, unpacked.
pub const LARGEST: usize = 64 << 20;

/// The kinds of chunk.
pub mod tag {
    /// The header, JSON. First, once.
    pub const HEADER: u8 = b'H';
    /// Steps.
    pub const STEPS: u8 = b'S';
    /// Timing.
    pub const TIMING: u8 = b'T';
    /// What the kernel counted of a seat's sandbox.
    pub const COUNTED: u8 = b'C';
    /// Private notes of one seat.
    pub const NOTES: u8 = b'P';
    /// The end, JSON. Last, once.
    pub const END: u8 = b'E';
}

const PACKED: u8 = 1;

/// Writes one chunk, packed if that makes it smaller.
pub fn write(to: &mut impl Write, tag: u8, raw: &[u8], scratch: &mut Vec<u8>) -> io::Result<()> {
    let packed = packing::pack(raw)?;
    let (flags, stored) = if packed.len() < raw.len() { (PACKED, &packed[..]) } else { (0, raw) };
    scratch.clear();
    scratch.extend([tag, flags]);
    put_varint(scratch, raw.len() as u64);
    put_varint(scratch, stored.len() as u64);
    scratch.extend_from_slice(stored);
    scratch.extend(check(tag, flags, stored));
    to.write_all(scratch)
}

/// A chunk as read.
pub struct Chunk {
    pub tag: u8,
    /// Its content, unpacked.
    pub raw: Vec<u8>,
}

/// The message for a replay that is too large.
pub const TOO_MUCH: &str = "it unpacks to more than 256 MiB";

/// Why there is no next chunk.
pub enum Stop {
    /// The file ends here.
    End,
    /// The file ends within a chunk: it was cut off.
    Cut,
    /// The chunk is damaged.
    Damaged(&'static str),
}

/// Reads the next chunk. `room` is how many bytes it may take up unpacked; its declared size is checked
/// before anything is unpacked, and no more than that is unpacked.
pub fn read(from: &mut Reader<'_>, room: usize) -> Result<Chunk, Stop> {
    if from.left() == 0 {
        return Err(Stop::End);
    }
    let mut head = || Some((from.byte()?, from.byte()?, from.varint()?, from.varint()?));
    let (tag, flags, raw_length, stored_length) = head().ok_or(Stop::Cut)?;
    if raw_length > LARGEST as u64 || stored_length > LARGEST as u64 || flags > PACKED {
        return Err(Stop::Damaged("a chunk has an impossible size"));
    }
    if raw_length > room as u64 {
        return Err(Stop::Damaged(TOO_MUCH));
    }
    let stored = from.take(stored_length as usize).ok_or(Stop::Cut)?;
    let expected = from.array::<4>().ok_or(Stop::Cut)?;
    if check(tag, flags, stored) != expected {
        return Err(Stop::Damaged("a checksum does not match"));
    }
    let raw = match flags {
        PACKED => packing::unpack(stored, raw_length).ok_or(Stop::Damaged("a chunk cannot be unpacked"))?,
        _ => stored.to_vec(),
    };
    if raw.len() as u64 != raw_length {
        return Err(Stop::Damaged("a chunk has another size than it says"));
    }
    Ok(Chunk { tag, raw })
}

fn check(tag: u8, flags: u8, stored: &[u8]) -> [u8; 4] {
    let mut hash = Xxh3::new();
    hash.update(&[tag, flags]);
    hash.update(stored);
    (hash.digest() as u32).to_le_bytes()
}
