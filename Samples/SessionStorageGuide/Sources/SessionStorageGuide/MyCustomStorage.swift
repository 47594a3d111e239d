// "Thread Safety": the guide's actor; what it leaves to the reader is filled in below its own lines.
// swift-format-ignore-file

import ClaudeCodeCore
import Foundation

public actor MyCustomStorage: SessionStorageProtocol {
  // Actor provides automatic synchronization
  private var inMemoryCache: [String: StoredSession] = [:]

  // All methods are automatically thread-safe

  public init() {}

  public func saveSession(id: String, firstMessage: String) async throws {
    let session = inMemoryCache[id]
    inMemoryCache[id] = StoredSession(
      id: id,
      createdAt: session?.createdAt ?? Date(),
      firstUserMessage: session?.firstUserMessage ?? firstMessage,
      lastAccessedAt: Date(),
      messages: session?.messages ?? []
    )
  }

  public func getAllSessions() async throws -> [StoredSession] {
    inMemoryCache.values.sorted { $0.lastAccessedAt > $1.lastAccessedAt }
  }

  public func getSession(id: String) async throws -> StoredSession? {
    inMemoryCache[id]
  }

  public func updateLastAccessed(id: String) async throws {
    inMemoryCache[id]?.lastAccessedAt = Date()
  }

  public func deleteSession(id: String) async throws {
    inMemoryCache[id] = nil
  }

  public func deleteAllSessions() async throws {
    inMemoryCache = [:]
  }

  public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
    if inMemoryCache[id] == nil {
      try await saveSession(id: id, firstMessage: messages.first { $0.role == .user }?.content ?? "")
    }
    inMemoryCache[id]?.messages = messages
    inMemoryCache[id]?.lastAccessedAt = Date()
  }

  public func updateSessionId(oldId: String, newId: String) async throws {
    guard oldId != newId, let old = inMemoryCache.removeValue(forKey: oldId) else { return }
    let known = Set(old.messages.map(\.id))
    let newer = inMemoryCache[newId]?.messages.filter { !known.contains($0.id) } ?? []
    inMemoryCache[newId] = StoredSession(
      id: newId,
      createdAt: old.createdAt,
      firstUserMessage: old.firstUserMessage,
      lastAccessedAt: old.lastAccessedAt,
      messages: old.messages + newer
    )
  }
}
