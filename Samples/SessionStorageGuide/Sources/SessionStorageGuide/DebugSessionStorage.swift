// "Debug Logging": the guide's class, a wrapper of any storage; "... wrap other methods similarly" is done.
// swift-format-ignore-file

import ClaudeCodeCore

public class DebugSessionStorage: SessionStorageProtocol {
  private let underlyingStorage: SessionStorageProtocol

  public init(wrapping storage: SessionStorageProtocol) {
    self.underlyingStorage = storage
  }

  public func saveSession(id: String, firstMessage: String) async throws {
    print("[Storage] Saving session: \(id)")
    try await underlyingStorage.saveSession(id: id, firstMessage: firstMessage)
    print("[Storage] Session saved successfully")
  }

  // ... wrap other methods similarly

  public func getAllSessions() async throws -> [StoredSession] {
    print("[Storage] Loading sessions")
    let sessions = try await underlyingStorage.getAllSessions()
    print("[Storage] Loaded \(sessions.count) sessions")
    return sessions
  }

  public func getSession(id: String) async throws -> StoredSession? {
    print("[Storage] Loading session: \(id)")
    let session = try await underlyingStorage.getSession(id: id)
    print("[Storage] Session \(session == nil ? "not found" : "loaded")")
    return session
  }

  public func updateLastAccessed(id: String) async throws {
    print("[Storage] Opening session: \(id)")
    try await underlyingStorage.updateLastAccessed(id: id)
    print("[Storage] Session opened")
  }

  public func deleteSession(id: String) async throws {
    print("[Storage] Deleting session: \(id)")
    try await underlyingStorage.deleteSession(id: id)
    print("[Storage] Session deleted")
  }

  public func deleteAllSessions() async throws {
    print("[Storage] Deleting all sessions")
    try await underlyingStorage.deleteAllSessions()
    print("[Storage] All sessions deleted")
  }

  public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
    print("[Storage] Saving \(messages.count) messages of session: \(id)")
    try await underlyingStorage.updateSessionMessages(id: id, messages: messages)
    print("[Storage] Messages saved")
  }

  public func updateSessionId(oldId: String, newId: String) async throws {
    print("[Storage] Renaming session: \(oldId) to \(newId)")
    try await underlyingStorage.updateSessionId(oldId: oldId, newId: newId)
    print("[Storage] Session renamed")
  }
}
