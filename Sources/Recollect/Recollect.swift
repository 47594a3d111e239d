// What an app imports: the history's types and rules, the store that keeps them in SQLite, and the agents that use it.

@_exported import RecollectAgents
@_exported import RecollectCore
@_exported import RecollectSQLite
