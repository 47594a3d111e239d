import Logging

extension Logger {
    /// Returns the loggable name of an error: its code, or its type.
    static func name(of error: any Error) -> String {
        (error as? RecollectError)?.code.rawValue ?? "\(type(of: error))"
    }
}
