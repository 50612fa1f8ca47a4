//! Connection to the `incast` that started the program.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recvmsg, sendmsg, socket_with,
};

use crate::pager::{Limit, Policy};

/// Configuration file from `incast` (Python: `incast.memory.protocol`): eight 8-byte numbers, then 4-byte delays.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) policy: Policy,
    pub(crate) limit: Limit,
    /// Smallest served allocation, in bytes.
    pub(crate) threshold: usize,
    pub(crate) region: usize,
    pub(crate) records: usize,
    pub(crate) seed: u64,
    /// Delays in ns.
    pub(crate) delays: Vec<u32>,
}

const VERSION: u64 = 1;
const NUMBERS: usize = 8;

impl Config {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (numbers, delays) = bytes.split_at_checked(NUMBERS * 8)?;
        let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let mut next = || numbers.next();
        if next()? != VERSION {
            return None;
        }
        let policy = if next()? == 0 { Policy::Fifo } else { Policy::Lru };
        let limit = if next()? == 0 { Limit::Share } else { Limit::Pages };
        Some(Self {
            policy,
            limit: limit(next()?),
            threshold: next()? as usize,
            region: next()? as usize,
            records: next()? as usize,
            seed: next()?,
            delays: delays.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
        })
    }
}

#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
}

impl Channel {
    pub(crate) fn open(name: &[u8]) -> Result<(Self, Config)> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        connect(&socket, &SocketAddrUnix::new_abstract_name(name)?)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut files = RecvAncillaryBuffer::new(&mut space);
        let mut word = [0; 8];
        recvmsg(&socket, &mut [IoSliceMut::new(&mut word)], &mut files, RecvFlags::CMSG_CLOEXEC)?;
        let file = files.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        let config = Config::read(&whole(file.ok_or(Errno::PROTO)?.as_fd())?).ok_or(Errno::PROTO)?;
        Ok((Self { socket }, config))
    }

    pub(crate) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()? })
    }

    /// Reports that this process is instrumented; sends its ring's file.
    pub(crate) fn hello(&self, ring: BorrowedFd<'_>) -> Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut files = SendAncillaryBuffer::new(&mut space);
        files.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(&ring)));
        sendmsg(&self.socket, &[IoSlice::new(b"H")], &mut files, SendFlags::NOSIGNAL).map(|_| ())
    }

    pub(crate) fn complain(&self, why: &str) {
        let text = IoSlice::new(why.as_bytes());
        // If sending fails, nobody listens.
        let _ = sendmsg(
            &self.socket,
            &[IoSlice::new(b"E"), text],
            &mut SendAncillaryBuffer::default(),
            SendFlags::NOSIGNAL,
        );
    }

    pub(crate) fn is_closed(&self) -> bool {
        let mut waited = [PollFd::new(&self.socket, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut waited, Some(&now)).is_ok() && waited[0].revents().contains(PollFlags::HUP)
    }
}

fn whole(file: BorrowedFd<'_>) -> Result<Vec<u8>> {
    let mut bytes = vec![0; fstat(file)?.st_size as usize];
    let mut read = 0;
    while read < bytes.len() {
        match rustix::io::pread(file, &mut bytes[read..], read as u64)? {
            0 => return Err(Errno::PROTO),
            more => read += more,
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_asked() {
        let mut bytes: Vec<u8> =
            [1, 1, 0, 250_000, 131_072, 1 << 30, 4096, 7].into_iter().flat_map(u64::to_le_bytes).collect();
        assert_eq!(Config::read(&bytes).unwrap().delays, []);
        bytes.extend([1_000_u32, 2_000].into_iter().flat_map(u32::to_le_bytes));
        let config = Config {
            policy: Policy::Lru,
            limit: Limit::Share(250_000),
            threshold: 131_072,
            region: 1 << 30,
            records: 4096,
            seed: 7,
            delays: vec![1_000, 2_000],
        };
        assert_eq!(Config::read(&bytes), Some(config));
        bytes[0] = 2;
        assert_eq!(Config::read(&bytes), None, "another version");
        assert_eq!(Config::read(&bytes[..60]), None);
    }
}
