//! Refuses Parquet files that the library would read for minutes or hours.
//!
//! `parquet` 60.1.0 passes over an unknown list or map element by element, and some elements need no bytes: booleans, and
//! at the file's end those of fixed size. A few bytes suffice for 2³¹ steps. No structure of the format's footer or of its
//! page headers has a list of booleans (parquet.thrift of Apache Parquet; column indexes have one, but are not read).
//!
//! Limit: the check reads each field by the type that the file states, the library reads known fields by the format's
//! type. If these differ, reading can still take long.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use parquet::file::metadata::ParquetMetaData;

/// Depth of structures, as the library's (`parquet_thrift.rs`).
const DEPTH: u32 = 64;
/// In bytes: a page's header with statistics fits (our choice).
const BUFFER: usize = 1024;
/// Field of a page's header with the number of bytes up to the next one.
const COMPRESSED_PAGE_SIZE: i16 = 3;

/// Checks the footer.
///
/// # Errors
///
/// A list or map of booleans, or of more elements than the file has bytes. The library reports other damage.
pub fn check_footer(file: &File) -> Result<(), String> {
    judge("footer", || {
        let mut file = file;
        file.seek(SeekFrom::End(-8))?;
        let mut end = [0; 8];
        file.read_exact(&mut end)?;
        let length = u32::from_le_bytes([end[0], end[1], end[2], end[3]]);
        file.seek(SeekFrom::End(-8 - i64::from(length)))?;
        Compact::new(file)?.structure(DEPTH).map(|_| ())
    })
}

/// Checks the header of each page, in all columns.
///
/// # Errors
///
/// As [`check_footer`].
pub fn check_pages(file: &File, metadata: &ParquetMetaData) -> Result<(), String> {
    for chunk in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let (mut place, length) = chunk.byte_range();
        let end = place.saturating_add(length);
        while place < end {
            let mut next = end;
            judge("header of a page", || {
                let mut file = file;
                file.seek(SeekFrom::Start(place))?;
                let mut header = Compact::new(file)?;
                let size = header.structure(DEPTH)?;
                next = size.map_or(end, |size| place.saturating_add(header.read).saturating_add(size));
                Ok(())
            })?;
            place = next;
        }
    }
    Ok(())
}

/// The library says the rest better.
fn judge(place: &str, check: impl FnOnce() -> io::Result<()>) -> Result<(), String> {
    match check() {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            Err(format!("its {place} has a list of booleans or one longer than the file"))
        }
        _ => Ok(()),
    }
}

/// Thrift's compact protocol.
struct Compact<'a> {
    bytes: BufReader<&'a File>,
    read: u64,
    /// Bytes of the file.
    length: u64,
}

impl<'a> Compact<'a> {
    fn new(file: &'a File) -> io::Result<Self> {
        Ok(Self { bytes: BufReader::with_capacity(BUFFER, file), read: 0, length: file.metadata()?.len() })
    }

    fn byte(&mut self) -> io::Result<u8> {
        let byte = *self.bytes.fill_buf()?.first().ok_or(ErrorKind::UnexpectedEof)?;
        self.bytes.consume(1);
        self.read += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(ErrorKind::InvalidData.into())
    }

    fn zigzag(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Ends at the file's end, unlike a seek.
    fn pass(&mut self, length: u64) -> io::Result<()> {
        let Some(before) = length.checked_sub(1) else { return Ok(()) };
        self.bytes.seek_relative(i64::try_from(before).map_err(|_| ErrorKind::InvalidData)?)?;
        self.read = self.read.saturating_add(before);
        self.byte().map(|_| ())
    }

    /// The size of the page, if the structure is a page's header.
    fn structure(&mut self, depth: u32) -> io::Result<Option<u64>> {
        let (mut size, mut field) = (None, 0i16);
        loop {
            let head = self.byte()?;
            if head & 0xf == 0 {
                return Ok(size);
            }
            field = match head >> 4 {
                0 => self.zigzag()? as i16,
                step => field.checked_add(i16::from(step)).ok_or(ErrorKind::InvalidData)?,
            };
            match head & 0xf {
                5 if field == COMPRESSED_PAGE_SIZE => size = u64::try_from(self.zigzag()?).ok(),
                // The type is the value.
                1 | 2 => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    /// An element has at least a byte.
    fn fits(&self, elements: u64) -> io::Result<()> {
        if elements > self.length { Err(ErrorKind::Unsupported.into()) } else { Ok(()) }
    }

    fn value(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        let inner = depth.checked_sub(1).ok_or(ErrorKind::InvalidData)?;
        match kind {
            1 | 2 => Err(ErrorKind::Unsupported.into()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.fits(length)?;
                (0..length).try_for_each(|_| self.value(head & 0xf, inner))
            }
            11 => {
                let length = self.varint()?;
                self.fits(length)?;
                let kinds = if length > 0 { self.byte()? } else { 0 };
                (0..length)
                    .try_for_each(|_| self.value(kinds >> 4, inner).and_then(|()| self.value(kinds & 0xf, inner)))
            }
            12 => self.structure(inner).map(|_| ()),
            13 => self.pass(16),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::check_footer;

    fn footer(bytes: &[u8]) -> Result<(), String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.write_all(&(bytes.len() as u32).to_le_bytes()).unwrap();
        file.write_all(b"PAR1").unwrap();
        check_footer(&file)
    }

    #[test]
    fn lists_without_bytes_are_refused() {
        // Field 15: a list; the elements' type and number.
        let list = |kind: u8| vec![0xf9, 0xf0 | kind, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
        assert!(footer(&list(1)).unwrap_err().contains("list of booleans"));
        assert!(footer(&list(2)).unwrap_err().contains("list of booleans"));
        assert!(footer(&list(7)).unwrap_err().contains("longer than the file"));
        // The library reports the missing bytes.
        assert_eq!(footer(&[0xf9, 0x37, 0]), Ok(()));
    }

    #[test]
    fn maps_and_inner_lists_of_booleans_are_refused() {
        assert!(footer(&[0xfb, 0xff, 0xff, 0xff, 0x7f, 0x11, 0]).is_err());
        assert!(footer(&[0xfc, 0x19, 0x19, 0xf1, 0xff, 0xff, 0xff, 0x7f, 0, 0]).is_err());
    }

    #[test]
    fn booleans_and_empty_lists_are_fields_like_others() {
        assert_eq!(footer(&[0x11, 0x12, 0x19, 0x01, 0x19, 0x00, 0x15, 0x02, 0]), Ok(()));
    }
}
