import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Returns the message of a failure a model can correct, or report to its user; `nil` for any other failure.
    func messageForModel(_ error: any Error) -> String? {
        switch error {
        case let error as RecollectError where Self.forModel.contains(error.code):
            // The message quotes the invalid argument as written by the model.
            error.code == .invalidArgument ? error.message : withoutRoot(error.message)
        case let error as UnconfirmedChangeError:
            withoutRoot(error.description)
        case let error as FileNotYetAvailableError:
            "\(error.url?.lastPathComponent ?? "The file") is not on this device yet. Its download was requested: try again later."
        default: nil
        }
    }

    /// Returns a message with paths relative to the workspace. The location of the workspace and its archive on
    /// this machine must not reach a model's server.
    private func withoutRoot(_ message: String) -> String {
        let root = rootURL.path
        return message.replacingOccurrences(of: archive.path, with: "the workspace's archive")
            .replacingOccurrences(of: root + "/", with: "").replacingOccurrences(of: root, with: "the workspace")
    }

    /// Errors a model can correct, or report to its user.
    private static let forModel: Set<RecollectError.Code> = [
        .invalidArgument, .notFound, .tooLarge, .notLocal, .timedOut, .credential, .foreignStore, .unavailable, .busy,
        .readOnly, .conflict,
    ]
}
