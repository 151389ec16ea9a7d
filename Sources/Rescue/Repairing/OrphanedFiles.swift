import Files
import ManagedModel
import ManagedStore
import Migration

/// Files of external data that no object names, moved into a folder beside the store.
///
/// After the store is in place: a run that is killed before leaves some where they were, where they do
/// no harm. Nothing is ever deleted, and what a backup still names stays.
struct OrphanedFiles {
  let files: StoreFiles
  let names: [String]

  /// Those of a store that neither it nor any backup beside it names.
  init(of store: Store, at target: String) throws {
    files = StoreFiles(path: target)
    guard store.modelSource != .raw else {
      names = []
      return
    }
    var orphaned = Set(try store.externalData().orphaned)
    for backup in StoreBackup.all(of: target) where !orphaned.isEmpty {
      // One that cannot be read may name all of them.
      guard let kept = try? backup.opened(backup.path), kept.modelSource != .raw,
        let report = try? kept.externalData()
      else {
        if StoreFiles(path: backup.path).externalDataFolder == files.externalDataFolder {
          orphaned = []
        }
        continue
      }
      if kept.files.externalDataFolder == files.externalDataFolder {
        orphaned.formIntersection(report.orphaned)
      }
    }
    names = orphaned.sorted()
  }

  /// The changes that moving them is, for the list.
  var changes: [RepairChange] {
    names.map {
      RepairChange(
        kind: FindingKind.externalOrphaned.rawValue, property: $0,
        old: FileSystem.name(of: files.externalDataFolder), new: "moved aside")
    }
  }

  /// - Returns: the folder they are in now, `nil` where there were none; and which could not be moved,
  ///   as sentences.
  func move() throws -> (folder: String?, notes: [String]) {
    guard !names.isEmpty else { return (nil, []) }
    let stem = FileSystem.stem(of: files.path)
    var number = 1
    func folder() -> String { "\(files.folder)/\(stem)-orphaned-\(number)" }
    while FileIdentity(of: folder()) != nil { number += 1 }
    let target = folder()
    try FileSystem.makeDirectory(target, permissions: 0o700)
    let notes = names.compactMap { name -> String? in
      do {
        try FileSystem.renameExclusively(
          files.externalDataFolder + "/" + name, to: target + "/" + name)
        return nil
      } catch {
        let reason = (error as? CoreDataError)?.message ?? "\(error)"
        return "The file \(name) could not be moved aside: \(reason)."
      }
    }
    return (target, notes)
  }
}
