// libpq, the client library of PostgreSQL: libpq-dev on Debian, the formula libpq of Homebrew.

#ifndef CLIBPQ_H
#define CLIBPQ_H

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#endif
