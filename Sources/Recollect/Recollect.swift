// What an app imports: the history's types and rules, the store that keeps them in SQLite, the agents that use it, and the workspace
// that they share with their user.

@_exported import RecollectAgents
@_exported import RecollectCore
@_exported import RecollectSQLite
@_exported import RecollectWorkspace
