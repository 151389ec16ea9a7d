import ManagedStore
import Migration

/// What `--to`, `--via` and `--mapping` name for the interface, known to be there.
struct PlanArguments: Sendable {
  var to: String?
  var via: String?
  var documents: [String] = []

  init() {}

  /// The same but for the destination, as words of a command.
  var way: [String] {
    (via.map { ["--via", $0] } ?? []) + documents.flatMap { ["--mapping", $0] }
  }

  /// - Throws: ``CoreDataError`` for what cannot be read: better told in the shell than on the screen.
  init(_ arguments: Arguments) throws {
    to = arguments.value("to")
    via = arguments.value("via")
    documents = arguments.all("mapping")
    if let to { _ = try ModelReference(to).load() }
    if let via { _ = try ModelVersions(readingFrom: via) }
    _ = try MappingDocuments(paths: documents)
  }
}
