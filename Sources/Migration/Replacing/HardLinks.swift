import Files
import ManagedModel

/// Other names of a store's file.
enum HardLinks {
  /// That these names keep the old file; `nil` where the store has one name.
  ///
  /// A store is replaced by a rename: its name stands for the new file afterwards, and every other name (hard
  /// link) of the old file goes on standing for the old one.
  static func note(_ path: String) -> String? {
    guard let (folder, name) = try? FileSystem.opened(path), let entry = try? folder.entry(name),
      entry.kind == .file, entry.names > 1
    else { return nil }
    let count = entry.names - 1
    return
      "The store's file has \(NumberText.counted(count, "other name (a hard link), which keeps", plural: "other names (hard links), which keep")) the old file: only \(name) becomes the new one."
  }
}
