#ifndef CRECOLLECTFILESYSTEM_H
#define CRECOLLECTFILESYSTEM_H

/// Gives each of two names in two open folders what the other one names, in one step.
///
/// Neither C library's name for this is seen by Swift: `renameat2` on Linux, `renameatx_np` on Darwin.
/// Returns 0, or -1 with `errno` set; `EINVAL` or `ENOSYS` where the file system cannot.
int recollect_exchange(int left_folder, const char *left, int right_folder, const char *right);

/// Gives a file another name unless that name is taken.
///
/// Returns 0, or -1 with `errno` set: `EEXIST` where it is; `EINVAL` or `ENOSYS` where the file system cannot.
int recollect_rename_exclusively(int old_folder, const char *old, int new_folder, const char *new_name);

/// Allocates the blocks of a mapped part of a file, as writing to it would.
///
/// Returns 0, or -1 with `errno` set: `EFAULT` where writing would end the process with SIGBUS because the disk is full, another
/// number where the system cannot do this.
int recollect_allocate_mapped(void *start, unsigned long size);

/// Returns when all that was written so far to the file system of an open folder is on the disk, whoever wrote it.
///
/// Returns 0, or -1 with `errno` set; `ENOSYS` where the system cannot.
int recollect_sync_file_system(int folder);

/// Copies to an open file the extended attributes that users and their programs gave another one: tags and comments for instance.
///
/// On Linux those named `user.*`. On Darwin all but the system's own (`com.apple.*`), of which only Spotlight's (`com.apple.metadata:*`:
/// the Finder's tags and comments) and the Finder's label (`com.apple.FinderInfo`) are copied. What the system keeps there of one file
/// stays behind: where it was downloaded from (quarantine), who may use it (access lists, security labels), to which cloud it belongs.
///
/// One call where there are none. What cannot be copied is left out, without a word: the file system may have none, or no room for them,
/// and single values over 64 KiB stay behind.
void recollect_copy_extended_attributes(int old_file, int new_file);

/// A file on this machine: no two files that exist at the same time have the same.
struct recollect_file_id {
    unsigned long long device;
    unsigned long long inode;
};

/// Identifies the file at a path, following symbolic links. Returns 0, or -1 with `errno` set.
///
/// Asks for nothing else: on Linux 6.13 and newer, asking for a file's modification time makes the next write to it store a new
/// one, and the next `fdatasync` 50 to 65 µs slower.
int recollect_identify(const char *path, struct recollect_file_id *id);

/// Identifies an open file. Returns 0, or -1 with `errno` set.
int recollect_identify_open(int file, struct recollect_file_id *id);

/// A folder's identity and the time of its last change: of a name in it or of its attributes. No program can set this time.
struct recollect_folder_stamp {
    struct recollect_file_id id;
    long long seconds;
    long long nanoseconds;
};

/// Reads a folder's stamp. Returns 0, or -1 with `errno` set.
int recollect_stamp_folder(const char *path, struct recollect_folder_stamp *stamp);

/// Whether the file system of an open file keeps for each file a date of its last change, which no program can set.
///
/// FAT and exFAT do not keep one on the disk. A FUSE file system reports whatever its program says: SFTP and many clouds have no
/// such date, so their programs report the modification date. Returns 0 if the file system is unknown.
int recollect_has_change_dates(int file);

/// Identifies the mount of the file at a path, following symbolic links. A bind mount has an identity of its own.
///
/// Returns 0, or -1 with `errno` set: `ENOSYS` where the system does not tell, on Linux before 5.8 and on all other systems.
int recollect_identify_mount(const char *path, unsigned long long *id);

#endif
