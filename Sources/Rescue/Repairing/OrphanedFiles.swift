import Files
import ManagedModel
import ManagedStore
import Migration

/// Files of external data that no object names, moved into a folder beside the store.
///
/// After the store is in place: a run that is killed before leaves some where they were, where they do
/// no harm. Nothing is ever deleted; what a backup or another store of the same folder still names stays.
struct OrphanedFiles {
  let files: StoreFiles
  let names: [String]

  /// Those of a store that neither it nor any store that shares its folder names.
  init(of store: Store, at target: String) throws {
    files = StoreFiles(path: target)
    let orphaned = store.modelSource == .raw ? [] : try store.externalData().orphaned
    let sharing = orphaned.isEmpty ? nil : SupportSharing(of: target)
    names = orphaned.filter { sharing?.isNamed($0) == false }
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
    guard !names.isEmpty, let data = try ExternalFolder(files).folder() else { return (nil, []) }
    let place = StoreNames(files.path)
    let name = place.orphaned
    let target = try Folder(place.folder).createFolder(name)
    let notes = names.compactMap { name -> String? in
      do {
        guard try data.entry(name)?.kind == .file else { return nil }
        try data.renameExclusively(name, to: name, in: target)
        return nil
      } catch {
        return "The file \(name) could not be moved aside: \(error.clause)."
      }
    }
    for note in notes { LeftBehind.add("In \(data.path): \(note)") }
    return (place.path(name), notes)
  }
}
