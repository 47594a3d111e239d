import Foundation

/// An error of an app's session store, with its underlying error.
///
/// The name comes from the custom session storage guide, for errors of custom stores. Recollect's own stores throw
/// `RecollectError`.
public enum StorageError: Error {
    /// A save failed.
    case saveFailed(any Error)
    /// A read failed.
    case loadFailed(any Error)
    /// A deletion failed.
    case deleteFailed(any Error)
    /// There is no session with this ID.
    case sessionNotFound(String)
}

extension StorageError: LocalizedError {
    /// A description for users.
    public var errorDescription: String? {
        switch self {
        case .saveFailed(let error): "The session could not be saved: \(error)"
        case .loadFailed(let error): "The session could not be read: \(error)"
        case .deleteFailed(let error): "The session could not be deleted: \(error)"
        case .sessionNotFound(let id): "There is no session \(id)."
        }
    }
}
