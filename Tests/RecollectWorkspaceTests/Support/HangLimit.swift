import Foundation
import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs, after ten minutes: on a busy machine a test waits for minutes until it has its turn. Where tests are to
    /// hang, because a rule was broken on purpose, `RECOLLECT_TIME_LIMIT` tells fewer.
    static var endsHanging: Self {
        .timeLimit(.minutes(ProcessInfo.processInfo.environment["RECOLLECT_TIME_LIMIT"].flatMap(Int.init) ?? 10))
    }
}
