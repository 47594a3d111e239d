// What an app imports: the history's types and rules, and the store that keeps them in SQLite.

@_exported import RecollectCore
@_exported import RecollectSQLite
