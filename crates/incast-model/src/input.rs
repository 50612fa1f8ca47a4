//! Reads regular files and shell pipes, up to a limit.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::memory::{Memory, amount};

/// Largest document (scenario, sweep, manifest, table): 64 MiB, 100 times the largest known scenario (our choice).
pub const DOCUMENT: u64 = 64 << 20;

/// Largest file of another program: 16 GiB (our choice). The flows of larger ones exceed a server's memory.
pub const LARGE: u64 = 16 << 30;

/// Files up to this size are read without a look at the available memory, which takes longer than they do.
const SMALL: u64 = 1 << 20;

/// Error that completes "cannot read FILE: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// System error.
    #[error("{0}")]
    System(String),
    /// Not a regular file.
    #[error("it is {0}; allowed: a regular file")]
    Kind(&'static str),
    /// More bytes than allowed.
    #[error("it has more than {}, the most that is read", amount(*.0 as f64))]
    Size(u64),
    /// Larger than the available memory.
    #[error("it has {}; {memory}", amount(*.bytes as f64))]
    Memory {
        /// File size.
        bytes: u64,
        /// Available memory.
        memory: Memory,
    },
    /// Not UTF-8.
    #[error("not UTF-8 text: byte 0x{byte:02x} in line {line}, column {column}{}", utf16_hint(.utf16))]
    Text {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// First invalid byte.
        byte: u8,
        /// If true, the file begins like UTF-16.
        utf16: bool,
        /// Line; `\u{fffd}` stands for invalid bytes.
        text: String,
    },
}

fn utf16_hint(utf16: &bool) -> &'static str {
    if *utf16 { "; the file looks like UTF-16: save it as UTF-8" } else { "" }
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        Self::System(error.to_string())
    }
}

/// Open regular file or shell pipe.
#[derive(Debug)]
pub struct Input {
    file: File,
    most: u64,
}

impl Input {
    /// Opens a file of at most `most` bytes. Refuses devices without waiting; accepts shell pipes, `/dev/stdin` and `<(…)`.
    pub fn open(path: &Path, most: u64) -> Result<Self, InputError> {
        // Opening has effects (tapes) or blocks (named pipes).
        let piped = is_descriptor(path);
        allowed(&std::fs::metadata(path)?, piped)?;
        let file = if piped { File::open(path)? } else { open_at_once(path)? };
        let found = file.metadata()?;
        allowed(&found, piped)?;
        if found.len() > most {
            return Err(InputError::Size(most));
        }
        Ok(Self { file, most })
    }

    /// Returns the open file.
    pub fn into_file(self) -> File {
        self.file
    }

    fn size(&self) -> Result<u64, InputError> {
        Ok(self.file.metadata()?.len())
    }

    /// Reads at most `count` bytes; later reads continue there.
    pub fn head(&mut self, count: u64) -> Result<Vec<u8>, InputError> {
        let mut head = Vec::new();
        Read::by_ref(&mut self.file).take(count).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Appends the rest to `before`.
    pub fn read(mut self, mut before: Vec<u8>) -> Result<Vec<u8>, InputError> {
        let bytes = self.size()?;
        if bytes > SMALL {
            let memory = Memory::available();
            if bytes > memory.bytes {
                return Err(InputError::Memory { bytes, memory });
            }
        }
        // One more byte detects a growing file or an endless pipe.
        Read::by_ref(&mut self.file)
            .take((self.most + 1).saturating_sub(before.len() as u64))
            .read_to_end(&mut before)?;
        if before.len() as u64 > self.most { Err(InputError::Size(self.most)) } else { Ok(before) }
    }
}

/// Reads at most `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, InputError> {
    Input::open(path, most)?.read(Vec::new())
}

/// Reads at most `most` bytes of UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String, InputError> {
    text(read(path, most)?)
}

/// Converts UTF-8 bytes.
pub fn text(bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|error| {
        let (end, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let begin = bytes[..end].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line_end = bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| end + at);
        InputError::Text {
            line: bytes[..end].iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: String::from_utf8_lossy(&bytes[begin..end]).chars().count() + 1,
            byte: bytes[end],
            text: String::from_utf8_lossy(&bytes[begin..line_end]).into_owned(),
            utf16: bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]),
        }
    })
}

fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

fn allowed(found: &Metadata, piped: bool) -> Result<(), InputError> {
    match kind(found.file_type()) {
        None => Ok(()),
        Some(PIPE) if piped => Ok(()),
        Some(kind) => Err(InputError::Kind(kind)),
    }
}

const PIPE: &str = "a named pipe";

fn kind(found: FileType) -> Option<&'static str> {
    if found.is_file() {
        return None;
    }
    if found.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kinds = [
            (found.is_fifo(), PIPE),
            (found.is_char_device(), "a character device"),
            (found.is_block_device(), "a block device"),
            (found.is_socket(), "a socket"),
        ];
        if let Some((_, kind)) = kinds.into_iter().find(|(is, _)| *is) {
            return Some(kind);
        }
    }
    Some("no regular file")
}

/// Does not block on a named pipe that has replaced the file.
#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_text(&file, 5).unwrap(), "12345");
        assert_eq!(read_text(&file, 4), Err(InputError::Size(4)));
        assert_eq!(InputError::Size(4).to_string(), "it has more than 4 B, the most that is read");
        let mut input = Input::open(&file, 5).unwrap();
        let head = input.head(2).unwrap();
        assert_eq!((head.as_slice(), input.read(head.clone()).unwrap().as_slice()), (&b"12"[..], &b"12345"[..]));
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&file, DOCUMENT), Err(InputError::Size(DOCUMENT)));
        assert!(read_text(&folder.path().join("none"), 1).unwrap_err().to_string().contains("No such file"));
    }

    #[test]
    fn text_that_is_not_utf8_is_located() {
        let why = |bytes: &[u8]| text(bytes.to_vec()).unwrap_err().to_string();
        assert_eq!(why(b"a\nb\xc3\xa9\xff"), "not UTF-8 text: byte 0xff in line 2, column 3");
        assert!(why(b"\xff\xfes\0").ends_with("save it as UTF-8"));
        assert_eq!(text("é".into()).unwrap(), "é");
    }

    #[cfg(unix)]
    #[test]
    fn other_kinds_of_files_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let why = |path: &Path| read(path, DOCUMENT).unwrap_err().to_string();
        assert_eq!(why(&pipe), "it is a named pipe; allowed: a regular file");
        assert_eq!(why(Path::new("/dev/zero")), "it is a character device; allowed: a regular file");
        assert_eq!(why(folder.path()), "it is a folder; allowed: a regular file");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert_eq!(why(&link), "it is a character device; allowed: a regular file");
        let listener = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        assert_eq!(why(&folder.path().join("socket")), "it is a socket; allowed: a regular file");
        drop(listener);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_of_a_shell_are_read_up_to_the_limit() {
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = io::pipe().unwrap();
        let name = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let writing = std::thread::spawn(move || io::Write::write_all(&mut writer, b"12345"));
        assert_eq!(read_text(Path::new(&name), 5).unwrap(), "12345");
        writing.join().unwrap().unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        let name = format!("/proc/self/fd/{}", reader.as_raw_fd());
        io::Write::write_all(&mut writer, b"123456").unwrap();
        assert_eq!(read_text(Path::new(&name), 5), Err(InputError::Size(5)));
    }
}
