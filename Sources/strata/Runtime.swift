import ManagedModel
import ManagedStore

/// The terminal interface.
enum Runtime {
  /// Opens the interface on a store and returns when it is left.
  ///
  /// - Parameters:
  ///   - model: what `--model` named.
  ///   - theme: name of a theme, or path of a theme file.
  static func open(
    storePath: String, model: String?, theme: String?, console: Console
  ) throws -> CommandStatus {
    _ = try StoreOpening.open(storePath, model: model)
    guard console.isTerminal else {
      throw CoreDataError(
        .usage, "the interface needs a terminal, and standard output is none",
        hint: "Use a command such as: strata info \(storePath)")
    }
    throw CoreDataError(
      .usage, "the interface is not part of this build yet",
      hint: "Use a command such as: strata info \(storePath)")
  }
}
