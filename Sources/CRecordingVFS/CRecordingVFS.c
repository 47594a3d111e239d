#include "CRecordingVFS.h"

#include <limits.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A file of ours; the underlying file system's own lies behind it in the same allocation.
struct recorded_file {
    sqlite3_file base;
    const char *path;
    uint64_t device;
    uint64_t inode;
    // SQLite's Unix file system syncs the folder with the first sync of a journal or log that it made.
    int syncs_folder;
};

static struct recollect_file_recorder recorder;
static sqlite3_vfs recording;
static sqlite3_io_methods methods;

static sqlite3_vfs *underlying(void) { return recording.pAppData; }

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((struct recorded_file *)file + 1); }

static struct recollect_file_operation operation_on(sqlite3_file *file, int action) {
    const struct recorded_file *recorded = (struct recorded_file *)file;
    struct recollect_file_operation operation = {0};
    operation.action = action;
    operation.path = recorded->path;
    operation.device = recorded->device;
    operation.inode = recorded->inode;
    return operation;
}

static int close_file(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    recorder.begin();
    int result = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (result == SQLITE_OK) {
        struct recollect_file_operation operation = operation_on(file, RECOLLECT_FILE_WRITTEN);
        operation.offset = offset;
        operation.bytes = bytes;
        operation.count = count;
        recorder.record(&operation);
    }
    recorder.end();
    return result;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    recorder.begin();
    int result = real(file)->pMethods->xTruncate(real(file), size);
    if (result == SQLITE_OK) {
        struct recollect_file_operation operation = operation_on(file, RECOLLECT_FILE_TRUNCATED);
        operation.offset = size;
        recorder.record(&operation);
    }
    recorder.end();
    return result;
}

static int sync_file(sqlite3_file *file, int flags) {
    struct recorded_file *recorded = (struct recorded_file *)file;
    recorder.begin();
    int result = real(file)->pMethods->xSync(real(file), flags);
    if (result == SQLITE_OK) {
        struct recollect_file_operation operation = operation_on(file, RECOLLECT_FILE_SYNCED);
        recorder.record(&operation);
        if (recorded->syncs_folder) {
            recorded->syncs_folder = 0;
            operation.action = RECOLLECT_FOLDER_SYNCED;
            recorder.record(&operation);
        }
    }
    recorder.end();
    return result;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int lock_file(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int unlock_file(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int check_reserved_lock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int control_file(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }

static int map_shared_memory(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extends, memory);
}

static int lock_shared_memory(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void shared_memory_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int unmap_shared_memory(sqlite3_file *file, int removes) {
    return real(file)->pMethods->xShmUnmap(real(file), removes);
}

// Version 2: without xFetch nothing is mapped into memory, so every read and write is a call.
static sqlite3_io_methods methods = {
    2,
    close_file,
    read_file,
    write_file,
    truncate_file,
    sync_file,
    file_size,
    lock_file,
    unlock_file,
    check_reserved_lock,
    control_file,
    sector_size,
    characteristics,
    map_shared_memory,
    lock_shared_memory,
    shared_memory_barrier,
    unmap_shared_memory,
    0,
    0,
};

static int is_there(const char *path, struct stat *status) { return lstat(path, status) == 0; }

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened_flags) {
    (void)vfs;
    // A file that nobody records is the underlying file system's own from here on.
    if (name == NULL || !recorder.records(name)) {
        return underlying()->xOpen(underlying(), name, file, flags, opened_flags);
    }
    struct recorded_file *recorded = (struct recorded_file *)file;
    memset(recorded, 0, sizeof *recorded);
    real(file)->pMethods = NULL;
    struct stat status;
    recorder.begin();
    int was_there = is_there(name, &status);
    int result = underlying()->xOpen(underlying(), name, real(file), flags, opened_flags);
    if (result == SQLITE_OK && is_there(name, &status)) {
        const int journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
        recorded->path = name;
        recorded->device = (uint64_t)status.st_dev;
        recorded->inode = (uint64_t)status.st_ino;
        recorded->syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & journals) != 0;
        if (!was_there) {
            struct recollect_file_operation operation = operation_on(file, RECOLLECT_FILE_MADE);
            recorder.record(&operation);
        }
    }
    recorder.end();
    // SQLite closes a file that has methods, also after a failure.
    file->pMethods = real(file)->pMethods != NULL ? &methods : NULL;
    return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
    (void)vfs;
    if (!recorder.records(name)) return underlying()->xDelete(underlying(), name, syncs_folder);
    recorder.begin();
    int result = underlying()->xDelete(underlying(), name, syncs_folder);
    if (result == SQLITE_OK) {
        struct recollect_file_operation operation = {0};
        operation.action = RECOLLECT_FILE_REMOVED;
        operation.path = name;
        recorder.record(&operation);
        if (syncs_folder) {
            operation.action = RECOLLECT_FOLDER_SYNCED;
            recorder.record(&operation);
        }
    }
    recorder.end();
    return result;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs;
    return underlying()->xAccess(underlying(), name, flags, result);
}

static int full_path(sqlite3_vfs *vfs, const char *name, int count, char *path) {
    (void)vfs;
    return underlying()->xFullPathname(underlying(), name, count, path);
}

static int randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    (void)vfs;
    return underlying()->xRandomness(underlying(), count, bytes);
}

static int pause_for(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return underlying()->xSleep(underlying(), microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *time) {
    (void)vfs;
    return underlying()->xCurrentTime(underlying(), time);
}

static int last_error(sqlite3_vfs *vfs, int count, char *text) {
    (void)vfs;
    return underlying()->xGetLastError(underlying(), count, text);
}

static int current_time_milliseconds(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    (void)vfs;
    return underlying()->xCurrentTimeInt64(underlying(), time);
}

int recollect_record_files(const struct recollect_file_recorder *new_recorder) {
    if (recording.zName == NULL) {
        sqlite3_vfs *before = sqlite3_vfs_find(NULL);
        if (before == NULL) return SQLITE_ERROR;
        recorder = *new_recorder;
        recording.iVersion = 2;
        recording.szOsFile = (int)sizeof(struct recorded_file) + before->szOsFile;
        recording.mxPathname = before->mxPathname;
        recording.zName = "recollect-recording";
        recording.pAppData = before;
        recording.xOpen = open_file;
        recording.xDelete = delete_file;
        recording.xAccess = access_file;
        recording.xFullPathname = full_path;
        recording.xRandomness = randomness;
        recording.xSleep = pause_for;
        recording.xCurrentTime = current_time;
        recording.xGetLastError = last_error;
        recording.xCurrentTimeInt64 = current_time_milliseconds;
    }
    return sqlite3_vfs_register(&recording, 1);
}

int recollect_stop_recording_files(void) {
    return recording.zName == NULL ? SQLITE_OK : sqlite3_vfs_register(underlying(), 1);
}
