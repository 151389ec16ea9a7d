import Files
import ManagedModel
import ManagedStore

/// Files of external data that are missing, that nobody names, or that are empty.
struct ExternalCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    let (files, report) = try store.externalFiles(limit: .max)
    var found: [Finding] = []
    func add(_ kind: FindingKind, _ files: [ExternalFile], _ sentence: String) {
      guard !files.isEmpty else { return }
      found.append(
        Finding(
          kind, sentence, entity: files.first?.object?.entity, property: files.first?.property,
          count: files.count,
          first: files.prefix(5).map { $0.object?.description ?? $0.name }, in: place))
    }
    let missing = files.filter { $0.state == .missing }
    let named = files.filter { $0.state != .orphaned }
    let folder = FileSystem.name(of: store.files.supportFolder)
    add(
      .externalMissing, missing,
      "\(missing.count) of \(named.count) files of external data are missing from the hidden folder \(folder)."
    )
    let unreadable = files.filter { $0.state == .unreadable }
    add(
      .externalUnreadable, unreadable,
      "\(unreadable.count) of \(named.count) files of external data are in the hidden folder \(folder) and cannot be read: \(report.unreadable.first?.reason ?? "")."
    )
    if let reason = report.unlisted {
      found.append(
        Finding(
          .unchecked,
          "The folder of external data cannot be listed (\(reason)): whether it has unreferenced files is unknown.",
          in: place))
    }
    let empty = files.filter { $0.state == .referenced && $0.bytes == 0 }
    add(.externalSize, empty, "\(empty.count) files of external data have 0 bytes.")
    let orphaned = files.filter { $0.state == .orphaned }
    add(
      .externalOrphaned, orphaned,
      "\(orphaned.count) files of external data are unreferenced.")
    return found
  }
}
