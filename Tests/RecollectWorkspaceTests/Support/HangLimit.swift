import Foundation
import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a hanging test after ten minutes, because on a busy machine a test may wait for minutes until it starts.
    /// Mutations with hanging tests set a lower limit in `RECOLLECT_TIME_LIMIT`.
    static var endsHanging: Self {
        .timeLimit(.minutes(ProcessInfo.processInfo.environment["RECOLLECT_TIME_LIMIT"].flatMap(Int.init) ?? 10))
    }
}
