//! Page lists, oldest first, over one table of links. A page is in at most one list.

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Link {
    before: u32,
    behind: u32,
}

#[derive(Debug)]
pub(crate) struct List {
    oldest: u32,
    newest: u32,
    len: usize,
}

impl List {
    pub(crate) const EMPTY: Self = Self { oldest: NONE, newest: NONE, len: 0 };

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn oldest(&self) -> Option<u32> {
        if self.oldest == NONE { None } else { Some(self.oldest) }
    }

    pub(crate) fn behind(&self, links: &[Link], page: u32) -> Option<u32> {
        let Link { behind, .. } = links[page as usize];
        if behind == NONE { None } else { Some(behind) }
    }

    /// Appends a page that is in no list.
    pub(crate) fn push(&mut self, links: &mut [Link], page: u32) {
        links[page as usize] = Link { before: self.newest, behind: NONE };
        match self.newest {
            NONE => self.oldest = page,
            newest => links[newest as usize].behind = page,
        }
        self.newest = page;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, links: &mut [Link], page: u32) {
        let Link { before, behind } = links[page as usize];
        match before {
            NONE => self.oldest = behind,
            before => links[before as usize].behind = behind,
        }
        match behind {
            NONE => self.newest = before,
            behind => links[behind as usize].before = before,
        }
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_coming() {
        let mut links = [Link::default(); 8];
        let mut list = List::EMPTY;
        for page in [3, 5, 1, 7] {
            list.push(&mut links, page);
        }
        list.remove(&mut links, 5);
        list.remove(&mut links, 7);
        list.push(&mut links, 5);
        let mut found = Vec::new();
        while let Some(page) = list.oldest() {
            found.push(page);
            list.remove(&mut links, page);
        }
        assert_eq!((found, list.len()), (vec![3, 1, 5], 0));
    }
}
