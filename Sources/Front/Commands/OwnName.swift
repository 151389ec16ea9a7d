import Files
import ManagedModel

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a shell runs this very program by.
package enum OwnName {
  /// As a word of a printed command: its name, where that is found on PATH, else the path it was started by.
  package static let word = word(
    startedBy: CommandLine.arguments.first ?? name, path: environmentPath)

  private static let name = "strata"

  private static var environmentPath: String { getenv("PATH").map { String(cString: $0) } ?? "" }

  private static func file(_ path: String) -> FileIdentity? {
    FileIdentity(of: FileSystem.canonical(path))
  }

  /// - Parameter path: the folders of PATH.
  static func word(startedBy argument: String, path: String) -> String {
    guard argument.contains("/"), FileSystem.name(of: argument) == name,
      let own = file(argument)
    else { return name }
    // The first of that name is what a shell runs.
    let found = path.split(separator: ":").lazy.map { "\($0)/\(name)" }.first {
      file($0) != nil
    }
    return found.flatMap(file) == own ? name : ShellText.quoted(argument)
  }
}
