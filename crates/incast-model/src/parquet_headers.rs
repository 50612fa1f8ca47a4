//! Refuses Parquet files that the library would read for minutes or hours, or with gigabytes of memory.
//!
//! `parquet` 60.1.0 passes over an unknown list or map element by element, and some elements need no bytes: booleans, and
//! at the file's end those of fixed size. A few bytes suffice for 2³¹ steps. No structure of the format's footer or of its
//! page headers has a list of booleans (parquet.thrift of Apache Parquet; column indexes have one, but are not read).
//!
//! It also reserves memory for as many values as the header of a dictionary says, a negative number taken for a large one,
//! before it reads the first.
//!
//! Limit: the check reads each field by the type that the file states, the library reads known fields by the format's
//! type. If these differ, reading can still take long.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// Depth of structures, as the library's (`parquet_thrift.rs`).
const DEPTH: u32 = 64;
/// In bytes: a page's header with statistics fits (our choice).
const BUFFER: usize = 1024;
/// Fields of a page's header: bytes of the page, and up to the next header; header of a dictionary.
const UNCOMPRESSED_PAGE_SIZE: i16 = 2;
const COMPRESSED_PAGE_SIZE: i16 = 3;
const DICTIONARY_PAGE_HEADER: i16 = 7;
/// Field of a dictionary's header.
const NUM_VALUES: i16 = 1;

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
/// As [`check_footer`]; a dictionary with a number of values that its page has no bytes for.
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
                let page = header.structure(DEPTH)?;
                let size = page.number(COMPRESSED_PAGE_SIZE);
                next = size.map_or(end, |size| place.saturating_add(header.read).saturating_add(size));
                page.check_dictionary(chunk)
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
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            Err("a dictionary has a number of values that its page has no bytes for".to_owned())
        }
        _ => Ok(()),
    }
}

/// Fields of a structure that a check needs.
#[derive(Default)]
struct Fields {
    /// Values of the first fields; `None` for negative ones and other types.
    numbers: [Option<u64>; COMPRESSED_PAGE_SIZE as usize],
    /// Values of a dictionary, if the structure is its page's header.
    dictionary: Option<u64>,
}

impl Fields {
    fn number(&self, field: i16) -> Option<u64> {
        self.numbers[field as usize - 1]
    }

    fn check_dictionary(&self, chunk: &ColumnChunkMetaData) -> io::Result<()> {
        let Some(values) = self.dictionary else { return Ok(()) };
        let of_page = match chunk.compression() {
            Compression::UNCOMPRESSED => COMPRESSED_PAGE_SIZE,
            _ => UNCOMPRESSED_PAGE_SIZE,
        };
        // Encoded plainly; texts begin with their length.
        let least = match chunk.column_descr().physical_type() {
            Type::BOOLEAN => 1,
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(chunk.column_descr().type_length()).unwrap_or(1).max(1),
        };
        let fit = self.number(of_page).unwrap_or(0) / least;
        if values > fit { Err(ErrorKind::OutOfMemory.into()) } else { Ok(()) }
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

    fn structure(&mut self, depth: u32) -> io::Result<Fields> {
        let (mut found, mut field) = (Fields::default(), 0i16);
        loop {
            let head = self.byte()?;
            if head & 0xf == 0 {
                return Ok(found);
            }
            field = match head >> 4 {
                0 => self.zigzag()? as i16,
                step => field.checked_add(i16::from(step)).ok_or(ErrorKind::InvalidData)?,
            };
            match head & 0xf {
                5 if (1..=COMPRESSED_PAGE_SIZE).contains(&field) => {
                    found.numbers[field as usize - 1] = u64::try_from(self.zigzag()?).ok();
                }
                12 if field == DICTIONARY_PAGE_HEADER => {
                    let inner = depth.checked_sub(1).ok_or(ErrorKind::InvalidData)?;
                    // The library takes a negative number for a large one.
                    found.dictionary = Some(self.structure(inner)?.number(NUM_VALUES).unwrap_or(u64::MAX));
                }
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
    use std::sync::Arc;

    use parquet::data_type::Int32Type;
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::{check_footer, check_pages};

    /// A column of the numbers 1, 2, 3, each twice.
    fn with_dictionary() -> Vec<u8> {
        let schema = Arc::new(parse_message_type("message m { required int32 a; }").unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[1, 2, 3, 1, 2, 3], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    fn pages(bytes: &[u8]) -> Result<(), String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        check_pages(&file, &metadata)
    }

    #[test]
    fn a_dictionary_has_as_many_values_as_its_page_has_bytes_for() {
        let mut bytes = with_dictionary();
        // Field 7 after field 3, a structure; its first field, a number: 3.
        let place = bytes.windows(3).position(|three| three == [0x4c, 0x15, 0x06]).unwrap();
        assert_eq!(pages(&bytes), Ok(()));
        // 4 and -1.
        for number in [0x08, 0x01] {
            bytes[place + 2] = number;
            assert_eq!(
                pages(&bytes).unwrap_err(),
                "a dictionary has a number of values that its page has no bytes for"
            );
        }
    }

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
