#ifndef CSQLITE_H
#define CSQLITE_H

struct sqlite3;

/// Sets whether closing the last connection of a write-ahead log checkpoints the log and removes it.
///
/// `sqlite3_db_config` takes variable arguments, so Swift cannot call it.
/// Returns a result code of SQLite.
int recollect_checkpoints_on_close(struct sqlite3 *connection, int is_enabled);

#endif
