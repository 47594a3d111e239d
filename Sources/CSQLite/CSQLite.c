#include "CSQLite.h"

#include <sqlite3.h>

int recollect_checkpoints_on_close(struct sqlite3 *connection, int is_enabled) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_enabled, (int *)0);
}
