//! The disk as SQLite wants it: the C interface of a VFS (<https://www.sqlite.org/vfs.html>).
#![allow(unsafe_code)] // SQLite calls these functions with pointers; each is used as its documentation says.

use super::disk::{Disk, Handle, PowerOff};
use rusqlite::ffi::{
    self, SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR, SQLITE_IOERR_SHORT_READ, SQLITE_NOTFOUND, SQLITE_OK,
    sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs,
};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr, slice,
};

const LONGEST_PATH: c_int = 1024;

#[repr(C)]
struct Open {
    base: sqlite3_file,
    handle: *mut Handle,
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

impl Disk {
    /// Registers this disk as an SQLite VFS of this name, for the rest of the process.
    ///
    /// # Panics
    /// If SQLite refuses it, or the name holds a zero byte.
    pub fn register(&self, name: &str) {
        let name = CString::new(name).expect("a name holds no zero byte");
        // SAFETY: the default VFS is always there and stays; ours is leaked, as SQLite keeps the pointer for ever.
        let code = unsafe {
            let default = &*ffi::sqlite3_vfs_find(ptr::null());
            let vfs = Box::leak(Box::new(sqlite3_vfs {
                iVersion: 2,
                szOsFile: size_of::<Open>() as c_int,
                mxPathname: LONGEST_PATH,
                pNext: ptr::null_mut(),
                zName: name.into_raw(),
                pAppData: Box::into_raw(Box::new(self.clone())).cast(),
                xOpen: Some(open),
                xDelete: Some(delete),
                xAccess: Some(access),
                xFullPathname: Some(full_pathname),
                xDlOpen: None,
                xDlError: None,
                xDlSym: None,
                xDlClose: None,
                // Randomness, sleep and time do not touch the disk.
                xRandomness: default.xRandomness,
                xSleep: default.xSleep,
                xCurrentTime: default.xCurrentTime,
                xGetLastError: None,
                xCurrentTimeInt64: default.xCurrentTimeInt64,
                xSetSystemCall: None,
                xGetSystemCall: None,
                xNextSystemCall: None,
            }));
            ffi::sqlite3_vfs_register(vfs, 0)
        };
        assert_eq!(code, SQLITE_OK, "SQLite takes the VFS");
    }
}

/// The result code of a call that may meet a cut.
fn code(result: Result<c_int, PowerOff>) -> c_int {
    result.unwrap_or(SQLITE_IOERR)
}

unsafe fn disk<'a>(vfs: *mut sqlite3_vfs) -> &'a Disk {
    // SAFETY: `register` put a leaked Disk there.
    unsafe { &*(*vfs).pAppData.cast::<Disk>() }
}

unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    // SAFETY: SQLite gives null or a text that ends with zero.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().expect("tests use paths in UTF-8"))
}

unsafe fn handle<'a>(file: *mut sqlite3_file) -> &'a Handle {
    // SAFETY: SQLite calls methods only on files that `open` made.
    unsafe { &*(*file.cast::<Open>()).handle }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: `file` points to `szOsFile` bytes for us to fill.
    unsafe {
        let opened = disk(vfs).open(text(name), flags & ffi::SQLITE_OPEN_CREATE != 0);
        let Some(handle) = opened else {
            // Without methods SQLite does not call close.
            (*file).pMethods = ptr::null();
            return SQLITE_CANTOPEN;
        };
        let base = sqlite3_file { pMethods: &METHODS };
        file.cast::<Open>().write(Open { base, handle: Box::into_raw(Box::new(handle)) });
        if !out_flags.is_null() {
            *out_flags = flags;
        }
    }
    SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: `open` made the handle; SQLite closes once.
    let handle = unsafe { Box::from_raw((*file.cast::<Open>()).handle) };
    handle.close();
    SQLITE_OK
}

unsafe extern "C" fn read(file: *mut sqlite3_file, buffer: *mut c_void, amount: c_int, offset: sqlite3_int64) -> c_int {
    // SAFETY: SQLite gives a buffer of `amount` bytes.
    let (handle, buffer) = unsafe { (handle(file), slice::from_raw_parts_mut(buffer.cast::<u8>(), amount as usize)) };
    code(handle.read(offset as usize, buffer).map(|whole| if whole { SQLITE_OK } else { SQLITE_IOERR_SHORT_READ }))
}

unsafe extern "C" fn write(file: *mut sqlite3_file, bytes: *const c_void, amount: c_int, offset: sqlite3_int64) -> c_int {
    // SAFETY: SQLite gives `amount` bytes.
    let (handle, bytes) = unsafe { (handle(file), slice::from_raw_parts(bytes.cast::<u8>(), amount as usize)) };
    code(handle.write(offset as usize, bytes).map(|room| if room { SQLITE_OK } else { SQLITE_FULL }))
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: see `handle`.
    code(unsafe { handle(file) }.resize(size as usize).map(|()| SQLITE_OK))
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: see `handle`.
    code(unsafe { handle(file) }.sync().map(|()| SQLITE_OK))
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    // SAFETY: see `handle`; SQLite gives a place for the size.
    code(unsafe { handle(file) }.size().map(|bytes| {
        unsafe { *size = bytes as sqlite3_int64 };
        SQLITE_OK
    }))
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: see `handle`.
    code(unsafe { handle(file) }.lock(level).map(|taken| if taken { SQLITE_OK } else { SQLITE_BUSY }))
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: see `handle`.
    code(unsafe { handle(file) }.unlock(level).map(|()| SQLITE_OK))
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: see `handle`; SQLite gives a place for the answer.
    code(unsafe { handle(file) }.reserved().map(|reserved| {
        unsafe { *out = c_int::from(reserved) };
        SQLITE_OK
    }))
}

unsafe extern "C" fn file_control(_file: *mut sqlite3_file, _op: c_int, _arg: *mut c_void) -> c_int {
    SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut sqlite3_file) -> c_int {
    4096
}

unsafe extern "C" fn device_characteristics(_file: *mut sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(file: *mut sqlite3_file, page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void) -> c_int {
    // SAFETY: see `handle`; SQLite gives a place for the address, and reads and writes the region as shared memory.
    code(unsafe { handle(file) }.memory(page as usize, size as usize, extend != 0).map(|region| {
        unsafe { *out = region.map_or(ptr::null_mut(), |address| address.cast_mut().cast()) };
        SQLITE_OK
    }))
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, n: c_int, flags: c_int) -> c_int {
    // SAFETY: see `handle`.
    let handle = unsafe { handle(file) };
    let slots = offset..offset + n;
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        return code(handle.unlock_memory(slots).map(|()| SQLITE_OK));
    }
    let taken = handle.lock_memory(slots, flags & ffi::SQLITE_SHM_EXCLUSIVE != 0);
    code(taken.map(|taken| if taken { SQLITE_OK } else { SQLITE_BUSY }))
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: see `handle`.
    unsafe { handle(file) }.memory_barrier();
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, _delete: c_int) -> c_int {
    // SAFETY: see `handle`.
    code(unsafe { handle(file) }.leave_memory().map(|()| SQLITE_OK))
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, _sync_dir: c_int) -> c_int {
    // SAFETY: see `disk` and `text`.
    let (disk, name) = unsafe { (disk(vfs), text(name).expect("a file to delete has a name")) };
    code(disk.delete(name).map(|()| SQLITE_OK))
}

unsafe extern "C" fn access(vfs: *mut sqlite3_vfs, name: *const c_char, _flags: c_int, out: *mut c_int) -> c_int {
    // SAFETY: see `disk` and `text`; SQLite gives a place for the answer.
    unsafe { *out = c_int::from(text(name).is_some_and(|name| disk(vfs).exists(name))) };
    SQLITE_OK
}

unsafe extern "C" fn full_pathname(_vfs: *mut sqlite3_vfs, name: *const c_char, room: c_int, out: *mut c_char) -> c_int {
    // SAFETY: SQLite gives a text that ends with zero and `room` bytes for the copy.
    unsafe {
        let bytes = CStr::from_ptr(name).to_bytes_with_nul();
        if bytes.len() > room as usize {
            return SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len());
    }
    SQLITE_OK
}
