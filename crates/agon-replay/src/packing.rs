//! zstd frames: by the C library natively, by a Rust library in a WebAssembly module. Each reads the other's frames.

#[cfg(not(target_family = "wasm"))]
pub use native::{pack, unpack};
#[cfg(target_family = "wasm")]
pub use pure::{pack, unpack};

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::cell::RefCell;
    use std::io::{self, Read as _};

    use zstd::stream::read::Decoder;
    use zstd::zstd_safe::{DCtx, ResetDirective};

    use crate::chunk::LARGEST;

    /// The farthest a frame may look back, as a power of two: no farther than a chunk is long.
    const LARGEST_WINDOW: u32 = LARGEST.ilog2();

    /// The most memory that a thread keeps for unpacking, in bytes: what frames of ordinary matches need, and not the window of the largest.
    const MOST_KEPT: usize = 1 << 20;

    thread_local! {
        /// Setting up a compressor costs more than compressing a short match, so each thread keeps one.
        static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
        /// The same for unpacking.
        static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    }

    /// One frame of `raw`.
    pub fn pack(raw: &[u8]) -> io::Result<Vec<u8>> {
        COMPRESSOR.with_borrow_mut(|compressor| {
            let compressor = match compressor {
                Some(compressor) => compressor,
                None => compressor.insert(zstd::bulk::Compressor::new(3)?),
            };
            compressor.compress(raw)
        })
    }

    /// Unpacks one frame; one byte more than `length` is enough to see that it is too long.
    pub fn unpack(stored: &[u8], length: u64) -> Option<Vec<u8>> {
        CONTEXT.with_borrow_mut(|kept| {
            let mut context = kept.take().or_else(DCtx::try_create)?;
            // The last frame may have been given up halfway.
            context.reset(ResetDirective::SessionOnly).ok()?;
            let raw = unpack_with(&mut context, stored, length);
            *kept = Some(context).filter(|context| context.sizeof() <= MOST_KEPT);
            raw
        })
    }

    fn unpack_with(context: &mut DCtx<'static>, stored: &[u8], length: u64) -> Option<Vec<u8>> {
        let mut frame = Decoder::with_context(stored, context).single_frame();
        frame.window_log_max(LARGEST_WINDOW).ok()?;
        let mut raw = Vec::new();
        frame.by_ref().take(length + 1).read_to_end(&mut raw).ok()?;
        frame.finish().is_empty().then_some(raw)
    }
}

#[cfg(any(target_family = "wasm", test))]
mod pure {
    use std::io::{self, Read as _};

    use ruzstd::decoding::StreamingDecoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// One frame of `raw`.
    #[cfg_attr(test, expect(clippy::unnecessary_wraps, reason = "as the library in C has it"))]
    pub fn pack(raw: &[u8]) -> io::Result<Vec<u8>> {
        Ok(compress_to_vec(raw, CompressionLevel::Fastest))
    }

    /// Unpacks one frame; one byte more than `length` is enough to see that it is too long.
    pub fn unpack(mut stored: &[u8], length: u64) -> Option<Vec<u8>> {
        let mut raw = Vec::new();
        let mut frame = StreamingDecoder::new(&mut stored).ok()?;
        frame.by_ref().take(length + 1).read_to_end(&mut raw).ok()?;
        drop(frame);
        stored.is_empty().then_some(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of several sizes and kinds: empty, short, uniform, hard to pack, longer than one block.
    fn texts() -> Vec<Vec<u8>> {
        let mut noise = 1_u64;
        let mut random = || {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (noise >> 33) as u8
        };
        let words: Vec<u8> = (0..300_000).map(|n| b"MOVE 3 4;WAIT;SHOOT "[(n * n / 7) % 20]).collect();
        vec![
            Vec::new(),
            b"x".to_vec(),
            vec![7; 200_000],
            (0..5_000).map(|_| random()).collect(),
            (0..60_000).map(|_| random() % 5).collect(),
            words,
        ]
    }

    #[test]
    fn each_reads_what_the_other_packed() {
        for text in texts() {
            let length = text.len() as u64;
            for packed in [native::pack(&text).unwrap(), pure::pack(&text).unwrap()] {
                assert_eq!(native::unpack(&packed, length).as_ref(), Some(&text));
                assert_eq!(pure::unpack(&packed, length).as_ref(), Some(&text));
            }
        }
    }

    #[test]
    fn no_more_is_unpacked_than_a_byte_too_many() {
        let packed = native::pack(&vec![7; 200_000]).unwrap();
        // What is left of the frame is either no frame, or one byte too long: both are refused above.
        assert!(pure::unpack(&packed, 1_000).is_none_or(|raw| raw.len() == 1_001));
    }

    #[test]
    fn broken_frames_are_refused_or_give_something_short() {
        let (mut refused, mut tried) = (0, 0);
        for text in texts().iter().filter(|text| text.len() > 1) {
            let good = native::pack(text).unwrap();
            assert!(
                pure::unpack(&[&good[..], b"x"].concat(), text.len() as u64).is_none(),
                "something follows"
            );
            for cut in [0, 1, 4, good.len() / 2, good.len() - 1] {
                assert!(pure::unpack(&good[..cut], text.len() as u64).is_none(), "cut at {cut}");
            }
            for place in (0..good.len()).step_by(1 + good.len() / 400) {
                let mut bad = good.clone();
                bad[place] ^= 1 << (place % 8);
                let raw = pure::unpack(&bad, text.len() as u64);
                tried += 1;
                refused += usize::from(raw.is_none());
                assert!(raw.is_none_or(|raw| raw.len() <= text.len() + 1));
            }
        }
        // Flips inside a raw block give other bytes of the same length: most, but not all, are noticed.
        assert!(refused > 0, "none of {tried} broken frames was refused");
    }
}
