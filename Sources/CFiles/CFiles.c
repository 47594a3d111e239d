#define _GNU_SOURCE
#include "CFiles.h"

#include <errno.h>
#include <stdio.h>

#ifdef __APPLE__
int recollect_exchange(int left_folder, const char *left, int right_folder, const char *right) {
    return renameatx_np(left_folder, left, right_folder, right, RENAME_SWAP);
}

int recollect_rename_exclusively(int old_folder, const char *old, int new_folder, const char *new_name) {
    return renameatx_np(old_folder, old, new_folder, new_name, RENAME_EXCL);
}

int recollect_sync_file_system(int folder) {
    errno = ENOSYS;
    return -1;
}
#else
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

// By its number: the C library Musl has no function for it.
int recollect_exchange(int left_folder, const char *left, int right_folder, const char *right) {
    return (int)syscall(SYS_renameat2, left_folder, left, right_folder, right, RENAME_EXCHANGE);
}

int recollect_rename_exclusively(int old_folder, const char *old, int new_folder, const char *new_name) {
    return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new_name, RENAME_NOREPLACE);
}

int recollect_sync_file_system(int folder) {
    return syncfs(folder);
}
#endif
