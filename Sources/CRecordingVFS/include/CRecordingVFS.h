#ifndef CRECORDINGVFS_H
#define CRECORDINGVFS_H

#include <stdint.h>

/// What an operation on a file of SQLite does.
enum recollect_file_action {
    /// A file was made under a path.
    RECOLLECT_FILE_MADE = 1,
    RECOLLECT_FILE_WRITTEN = 2,
    /// `offset` is the new size.
    RECOLLECT_FILE_TRUNCATED = 3,
    RECOLLECT_FILE_SYNCED = 4,
    /// `path` is that of a file in the folder.
    RECOLLECT_FOLDER_SYNCED = 5,
    RECOLLECT_FILE_REMOVED = 6,
};

/// One operation that SQLite made on a file.
struct recollect_file_operation {
    /// A `recollect_file_action`.
    int action;
    /// The file's full path as SQLite opened it; valid during the call.
    const char *path;
    /// Which file it is, whatever its name is by now.
    uint64_t device;
    uint64_t inode;
    int64_t offset;
    /// What was written; valid during the call.
    const void *bytes;
    int64_t count;
};

/// Who is told of the operations.
struct recollect_file_recorder {
    /// Whether the operations on a path are recorded; those on others run as if there were no recorder.
    int (*records)(const char *path);
    /// Called before an operation, on the thread that makes it. No other recorded operation runs until `end`.
    void (*begin)(void);
    /// Called between `begin` and `end`, for what the operation did.
    void (*record)(const struct recollect_file_operation *operation);
    void (*end)(void);
};

/// Registers, as SQLite's default, a file system that passes every call on to the one that was the default before, and tells
/// the recorder of writes, truncations, syncs, and files made and removed. Shared memory (`-shm`) is not told.
///
/// Connections that are open stay as they are. The first recorder is the process's; later calls only register the file system
/// again. Not for two threads at once. Returns a result code of SQLite.
int recollect_record_files(const struct recollect_file_recorder *recorder);

/// Makes the file system that was the default before the default again. Files that are open stay recorded until they are
/// closed. Returns a result code of SQLite.
int recollect_stop_recording_files(void);

#endif
