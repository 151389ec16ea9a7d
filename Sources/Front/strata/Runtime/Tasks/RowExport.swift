import Commands
import ExportText
import Files
import Interface
import ManagedModel
import ManagedStore

/// Rows of a query written to a file, page by page: under another name first, so that a file of the
/// name that was asked for is whole.
struct RowExport {
  let store: Store
  /// The store that the rows are of, which is another file where they were deleted from it.
  let own: String
  let request: ExportRequest
  /// Where it waits while the store is replaced.
  let pause: ReaderPause
  /// How long it takes at least from one telling of how far it is to the next.
  let interval: Duration
  private static let page = 500

  /// - Returns: `nil` where there is a file of that name that is not to be replaced.
  func run(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> (rows: Int, bytes: Int)? {
    try ExportPlace.check(request.path, besides: [store.files.path, own])
    guard request.replaces || FileSystem.status(request.path) == nil else { return nil }
    let file = try PendingFile(for: request.path)
    let result = try write(to: file, progress)
    try file.finish(replacing: request.replaces)
    return result
  }

  private func write(
    to file: PendingFile, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> (rows: Int, bytes: Int) {
    let total = try store.count(of: request.query.entity, filter: request.query.filter)
    var bytes = 0
    let format = RowFormat(rawValue: request.format.rawValue) ?? .csv
    var writer = format.writer(isExact: true) { piece in
      try file.append(piece)
      bytes += piece.count
    }
    var query = request.query
    query.anchor = .start
    query.limit = Self.page
    var done = 0
    var last = ContinuousClock.now
    while true {
      try Task.checkCancellation()
      pause.point()
      let found = try store.rows(query)
      if done == 0 { try writer.begin(found) }
      try writer.write(found)
      done += found.rows.count
      guard found.rows.count == Self.page, let end = found.rows.last else { break }
      query.anchor = .after(end.cursor)
      if ContinuousClock.now - last > interval {
        progress(done, total)
        last = .now
      }
    }
    try writer.end()
    return (done, bytes)
  }
}
