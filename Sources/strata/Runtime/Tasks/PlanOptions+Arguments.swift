import Interface
import ManagedStore
import Migration
import ModelSearch

extension PlanOptions {
  /// What `--via` and `--mapping` name for the interface, known to be there, as what `--to` does.
  ///
  /// - Throws: ``CoreDataError`` for what cannot be read: better told in the shell than on the screen.
  init(_ arguments: Arguments) throws {
    self.init(via: arguments[.via], documents: arguments[.mapping])
    if let to = arguments[.to] { _ = try ModelReference(to).load() }
    if let via { _ = try ModelVersions(readingFrom: via) }
    _ = try MappingDocuments(paths: documents)
  }

  /// As words of a command.
  var words: [String] {
    (via.map { ["--via", $0] } ?? []) + documents.flatMap { ["--mapping", $0] }
  }
}
