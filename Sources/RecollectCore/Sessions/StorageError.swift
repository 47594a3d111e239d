import Foundation

/// What a session storage of an app throws, with the failure that lies below.
///
/// The custom session storage guide's name for errors of one's own storage; Recollect's own storages throw `RecollectError`.
public enum StorageError: Error {
    /// Something could not be saved.
    case saveFailed(any Error)
    /// Something could not be read.
    case loadFailed(any Error)
    /// Something could not be deleted.
    case deleteFailed(any Error)
    /// There is no session of that id.
    case sessionNotFound(String)
}

extension StorageError: LocalizedError {
    /// What happened, for a person.
    public var errorDescription: String? {
        switch self {
        case .saveFailed(let error): "The session could not be saved: \(error)"
        case .loadFailed(let error): "The session could not be read: \(error)"
        case .deleteFailed(let error): "The session could not be deleted: \(error)"
        case .sessionNotFound(let id): "There is no session \(id)."
        }
    }
}
