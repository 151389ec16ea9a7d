/// The question whether work should stop, asked by every connection that is opened during that work.
///
/// A store that was made to do harm can make any statement endless, also the first one on a new
/// connection: a view without an end, an index over an expensive expression. No caller has to
/// remember a connection that is opened far below it.
struct Stopping: @unchecked Sendable {
  // The closure is only called on the thread that steps a statement of a connection opened within
  // the scope, as a connection's own question is.
  let isRequested: () -> Bool

  /// The question of the present scope; `nil` outside of every scope, and where work must be finished.
  @TaskLocal static var current: Stopping?
}

extension Connection {
  /// Runs `body`; statements of all connections that are opened in it are interrupted once
  /// `shouldStop`, or a scope around this one, says so.
  ///
  /// Connections that helper threads open are not part of it.
  package static func stoppingAll<T>(
    when shouldStop: @escaping () -> Bool, _ body: () throws -> T
  ) rethrows -> T {
    let outer = Stopping.current
    let stopping = Stopping { shouldStop() || outer?.isRequested() == true }
    return try Stopping.$current.withValue(stopping, operation: body)
  }

  /// Runs `body`, which must not stop halfway: connections that are opened in it belong to no scope of
  /// ``stoppingAll(when:_:)``.
  package static func finishing<T>(_ body: () throws -> T) rethrows -> T {
    try Stopping.$current.withValue(nil, operation: body)
  }
}
