//! Maps in the image format of the original: BMP, 24 bits, one pixel per tile (JB-MAP-6).

use crate::map::{Map, Tile};

/// Reads an image of the original; any other colour is an error (JB-MAP-6).
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Map, String> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        four.map(i32::from_le_bytes).ok_or_else(|| "this BMP image is cut off in its head".to_owned())
    };
    let (data, width, height) = (number(10)?, number(18)?, number(22)?);
    let (depth, packing) = (number(28)? & 0xffff, number(30)?);
    if depth != 24 || packing != 0 {
        return Err(format!(
            "a map image has 24 bits a pixel, not packed; this one has {depth} (packing {packing})"
        ));
    }
    // A negative height means that the rows are stored from the top.
    let from_top = height < 0;
    let size = |number: i32| usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    let (width, height) = (if width < 0 { 0 } else { size(width) }, size(height));
    let mut map = Map::new(width, height)?;
    let row_bytes = (width * 3).div_ceil(4) * 4;
    let pixels = usize::try_from(data).ok().and_then(|data| bytes.get(data..));
    let pixels = pixels.filter(|pixels| pixels.len() >= row_bytes * (height - 1) + width * 3);
    let pixels = pixels.ok_or("this BMP image is cut off in its pixels")?;
    for y in 0..height {
        let row = &pixels[row_bytes * if from_top { y } else { height - 1 - y }..];
        for x in 0..width {
            let colour = [row[3 * x + 2], row[3 * x + 1], row[3 * x]];
            let tile = Tile::of_colour(colour).ok_or_else(|| {
                let [red, green, blue] = colour;
                format!(
                    "column {}, row {}: #{red:02x}{green:02x}{blue:02x} is the colour of no tile",
                    x + 1,
                    y + 1
                )
            })?;
            map.set(x as u8, y as u8, tile);
        }
    }
    Ok(map)
}

/// Writes a map as an image of the original.
pub fn write(map: &Map) -> Vec<u8> {
    let (width, height) = (u32::from(map.width()), u32::from(map.height()));
    let row_bytes = (width * 3).div_ceil(4) * 4;
    let mut bytes = b"BM".to_vec();
    let numbers = [
        54 + row_bytes * height,
        0,
        54,
        40,
        width,
        height,
        24 << 16 | 1,
        0,
        row_bytes * height,
        2835,
        2835,
        0,
        0,
    ];
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    for y in (0..map.height()).rev() {
        for x in 0..map.width() {
            bytes.extend(Tile::ALL[map.tile(x, y) as usize].2.iter().rev());
        }
        bytes.resize(bytes.len() + (row_bytes - width * 3) as usize, 0);
    }
    bytes
}
