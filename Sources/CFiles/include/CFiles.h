#ifndef CFILES_H
#define CFILES_H

/// Gives each of two names in two open folders what the other one names, in one step.
///
/// Neither C library's name for this is seen by Swift: `renameat2` on Linux, `renameatx_np` on Darwin.
/// Returns 0, or -1 with `errno` set; `EINVAL` or `ENOSYS` where the file system cannot.
int recollect_exchange(int left_folder, const char *left, int right_folder, const char *right);

/// Gives a file another name unless that name is taken.
///
/// Returns 0, or -1 with `errno` set: `EEXIST` where it is; `EINVAL` or `ENOSYS` where the file system cannot.
int recollect_rename_exclusively(int old_folder, const char *old, int new_folder, const char *new_name);

/// Returns when all that was written so far to the file system of an open folder is on the disk, whoever wrote it.
///
/// Returns 0, or -1 with `errno` set; `ENOSYS` where the system cannot.
int recollect_sync_file_system(int folder);

#endif
