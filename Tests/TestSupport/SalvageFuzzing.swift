import Files
import ManagedStore
import SQLite

/// Stores with mutated pages and logs, for ``Fuzzing``.
public enum SalvageFuzzing {
  /// Reads whatever can be read of the bytes as a store's main file; a second half, behind a mark, is
  /// its -wal.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    let path = folder.path("hostile.sqlite")
    let copy = path + ".copy"
    let model = try CompositeSamples.library()
    let made = folder.path("made.sqlite")
    try CompositeSamples.writeLibrary(to: made)
    let main = try FileSystem.read(made)
    return Fuzzing.Target("pages of a store", corpus: [main, main]) { bytes in
      // Half of the inputs stand in a log instead, frame for frame as SQLite would write them.
      let isLog = bytes.count % 2 == 1
      try FileSystem.write(isLog ? [] : bytes, to: path)
      if isLog {
        try FileSystem.write(bytes, to: path + "-wal")
      } else {
        FileSystem.remove(path + "-wal")
      }
      let source = try SalvageSource(path: path)
      for copiesTrees in [true, false] {
        for suffix in ["", RemainsCopy.listSuffix] { FileSystem.remove(copy + suffix) }
        do {
          let made = try SalvagedCopy(
            of: source, at: copy, model: model, copiesTrees: copiesTrees)
          // Pages that were copied may hold anything; SQLite tells.
          _ = try made.connection.rows("PRAGMA integrity_check(5)")
        } catch  where copiesTrees {}
      }
      for suffix in ["", RemainsCopy.listSuffix] { FileSystem.remove(copy + suffix) }
      _ = try RemainsCopy(of: source, at: copy, model: model)
    }
  }
}
