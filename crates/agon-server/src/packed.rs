//! Text that belongs to authors, as it is stored: what their programs and builds wrote is repetitive, and packs to a tenth.

use std::io::{self, Read as _};

/// How packed bytes begin. JSON never does.
const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
/// Shorter texts are stored as they are: packing gains nothing.
const SHORT: usize = 256;

/// The form in which a text is stored.
pub fn pack(text: &[u8]) -> Vec<u8> {
    if text.len() < SHORT && !text.starts_with(&MAGIC) {
        return text.to_vec();
    }
    // It fails only for want of memory; the text as it is can be read too.
    zstd::bulk::compress(text, zstd::DEFAULT_COMPRESSION_LEVEL).unwrap_or_else(|_| text.to_vec())
}

/// A text of at most `most` bytes that was stored, packed or not: contests began before texts were packed.
///
/// # Errors
/// [`InvalidData`](io::ErrorKind::InvalidData) when it is longer.
pub fn unpack(stored: Vec<u8>, most: usize) -> io::Result<Vec<u8>> {
    let long =
        || io::Error::new(io::ErrorKind::InvalidData, format!("a stored text is longer than {most} bytes"));
    if !stored.starts_with(&MAGIC) {
        return if stored.len() <= most { Ok(stored) } else { Err(long()) };
    }
    let mut text = Vec::new();
    let unpacked = zstd::Decoder::new(&stored[..])
        .and_then(|decoder| decoder.take(most as u64 + 1).read_to_end(&mut text));
    match unpacked {
        Ok(length) if length > most => Err(long()),
        Ok(_) => Ok(text),
        // It was stored unpacked and only begins like that.
        Err(_) => Ok(stored),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_as_it_was_and_a_long_one_takes_little_room() {
        let long = b"step 17: the same again\n".repeat(10_000);
        for text in [&b""[..], b"{}", &long, &MAGIC, &[&MAGIC[..], &long].concat()] {
            assert_eq!(unpack(pack(text), text.len()).expect("as it was"), text);
        }
        assert!(pack(&long).len() * 10 < long.len());
        assert_eq!(unpack(long.clone(), long.len()).expect("stored before texts were packed"), long);
        for stored in [pack(&long), long.clone()] {
            assert_eq!(
                unpack(stored, long.len() - 1).expect_err("too long").kind(),
                io::ErrorKind::InvalidData
            );
        }
        let like_packed = [&MAGIC[..], b"not packed at all"].concat();
        assert_eq!(unpack(like_packed.clone(), 100).expect("as it was"), like_packed);
    }
}
