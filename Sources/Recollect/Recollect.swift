/// Re-exports the libraries of an app: the history's types and rules, its store in SQLite, the agents, and the workspace
/// shared by agents and user.
@_exported import RecollectAgents
@_exported import RecollectCore
@_exported import RecollectSQLite
@_exported import RecollectWorkspace
