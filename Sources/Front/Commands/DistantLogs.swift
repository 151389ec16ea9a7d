import Containers
import Files
import ManagedModel

/// Logs in other folders than their stores, with the command that reads both.
package enum DistantLogs {
  /// - Parameter container: the path of what both are in.
  package static func sentence(_ log: DistantLog, in container: String) -> String {
    let store = place(of: log.store, in: container)
    let command = ShellText.command(
      "salvage", store, "--wal", place(of: log.log, in: container), "--output",
      FileSystem.stem(of: log.store) + "-with-wal.sqlite")
    return
      "“\(log.log.printable)” looks like the -wal of “\(log.store.printable)”, which has none beside it. It is not applied: rows may be missing. To read both: \(command)"
  }

  /// The path that a command takes: a file's own where it has that name on the disk.
  static func place(of name: String, in container: String) -> String {
    let plain = container.hasSuffix("/") ? container + name : container + "/" + name
    return FileSystem.isFile(plain) ? plain : container + "//" + name
  }
}
