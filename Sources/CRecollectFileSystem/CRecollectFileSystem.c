#define _GNU_SOURCE
#include "CRecollectFileSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#ifdef __APPLE__
#include <sys/mount.h>
#include <sys/param.h>

int recollect_has_change_dates(int file) {
    struct statfs status;
    if (fstatfs(file, &status) != 0) return 0;
    const char *name = status.f_fstypename;
    return strcmp(name, "msdos") != 0 && strcmp(name, "exfat") != 0 && strstr(name, "fuse") == NULL;
}

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

int recollect_allocate_mapped(void *start, unsigned long size) {
    errno = ENOSYS;
    return -1;
}

static int begins_with(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static int is_users(const char *name) {
    return !begins_with(name, "com.apple.") || begins_with(name, "com.apple.metadata:")
        || strcmp(name, "com.apple.FinderInfo") == 0;
}

static ssize_t attribute_names(int file, char *names, size_t size) { return flistxattr(file, names, size, 0); }

static ssize_t get_attribute(int file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size, 0, 0);
}

static int set_attribute(int file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0, 0);
}
#else
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// Since Linux 5.7: headers may be older than the kernel.
#ifndef EXFAT_SUPER_MAGIC
#define EXFAT_SUPER_MAGIC 0x2011BAB0UL
#endif
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

int recollect_has_change_dates(int file) {
    struct statfs status;
    if (fstatfs(file, &status) != 0) return 0;
    return status.f_type != MSDOS_SUPER_MAGIC && status.f_type != EXFAT_SUPER_MAGIC
        && status.f_type != FUSE_SUPER_MAGIC;
}

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

// Its number, since Linux 5.14: headers may be older than the kernel.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

int recollect_allocate_mapped(void *start, unsigned long size) {
    return madvise(start, size, MADV_POPULATE_WRITE);
}

static int is_users(const char *name) { return strncmp(name, "user.", 5) == 0; }

static ssize_t attribute_names(int file, char *names, size_t size) { return flistxattr(file, names, size); }

static ssize_t get_attribute(int file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size);
}

static int set_attribute(int file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0);
}
#endif

void recollect_copy_extended_attributes(int old_file, int new_file) {
    const size_t largest = 65536;
    ssize_t size = attribute_names(old_file, NULL, 0);
    if (size <= 0) return;
    char *names = malloc((size_t)size);
    char *value = malloc(largest);
    if (names != NULL && value != NULL) {
        // Somebody may have added one since: then the names do not fit, and none is copied.
        size = attribute_names(old_file, names, (size_t)size);
        for (ssize_t place = 0; place < size; place += (ssize_t)strlen(names + place) + 1) {
            const char *name = names + place;
            if (!is_users(name)) continue;
            ssize_t length = get_attribute(old_file, name, value, largest);
            if (length >= 0) set_attribute(new_file, name, value, (size_t)length);
        }
    }
    free(value);
    free(names);
}

#if defined(STATX_INO) && defined(SYS_statx)
// By its number: not every C library has a function for it.
static int identify_by_statx(
    int folder, const char *path, int flags, unsigned mask, struct recollect_file_id *id, struct statx *status) {
    if (syscall(SYS_statx, folder, path, flags, mask, status) != 0) return -1;
    id->device = ((unsigned long long)status->stx_dev_major << 32) | status->stx_dev_minor;
    id->inode = status->stx_ino;
    return 0;
}

int recollect_identify(const char *path, struct recollect_file_id *id) {
    struct statx status;
    return identify_by_statx(AT_FDCWD, path, 0, STATX_INO, id, &status);
}

int recollect_identify_open(int file, struct recollect_file_id *id) {
    struct statx status;
    return identify_by_statx(file, "", AT_EMPTY_PATH, STATX_INO, id, &status);
}

int recollect_stamp_folder(const char *path, struct recollect_folder_stamp *stamp) {
    struct statx status;
    if (identify_by_statx(AT_FDCWD, path, 0, STATX_INO | STATX_CTIME, &stamp->id, &status) != 0) return -1;
    stamp->seconds = status.stx_ctime.tv_sec;
    stamp->nanoseconds = status.stx_ctime.tv_nsec;
    return 0;
}

int recollect_identify_mount(const char *path, unsigned long long *id) {
    // STATX_MNT_ID and the place of stx_mnt_id, which older headers do not name.
    const unsigned mask = 0x1000;
    const size_t place = 0x90;
    struct statx status;
    struct recollect_file_id file;
    if (identify_by_statx(AT_FDCWD, path, 0, mask, &file, &status) != 0) return -1;
    if ((status.stx_mask & mask) == 0) {
        errno = ENOSYS;
        return -1;
    }
    memcpy(id, (const char *)&status + place, sizeof *id);
    return 0;
}
#else
static void copy_id(const struct stat *status, struct recollect_file_id *id) {
    id->device = (unsigned long long)status->st_dev;
    id->inode = (unsigned long long)status->st_ino;
}

int recollect_identify(const char *path, struct recollect_file_id *id) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    copy_id(&status, id);
    return 0;
}

int recollect_identify_open(int file, struct recollect_file_id *id) {
    struct stat status;
    if (fstat(file, &status) != 0) return -1;
    copy_id(&status, id);
    return 0;
}

int recollect_stamp_folder(const char *path, struct recollect_folder_stamp *stamp) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    copy_id(&status, &stamp->id);
#ifdef __APPLE__
    stamp->seconds = status.st_ctimespec.tv_sec;
    stamp->nanoseconds = status.st_ctimespec.tv_nsec;
#else
    stamp->seconds = status.st_ctim.tv_sec;
    stamp->nanoseconds = status.st_ctim.tv_nsec;
#endif
    return 0;
}

int recollect_identify_mount(const char *path, unsigned long long *id) {
    (void)path;
    (void)id;
    errno = ENOSYS;
    return -1;
}
#endif
