import DataMasking
import Files
import ManagedModel
import ManagedStore
import Migration

/// Names of files that columns hold.
enum ExternalName {
  /// The bytes of a column that names a file, with another name; `nil` for one that names none.
  static func renamed(_ column: [UInt8], _ names: Pseudonyms) -> [UInt8]? {
    guard case .file(let name) = MarkedBytes(column) else { return nil }
    // Whatever follows the name stays.
    let rest = column.dropFirst(1 + name.utf8.count)
    return MarkedBytes.file(name: names.text(name)).column.dropLast() + rest
  }
}

/// Makes the files of external data beside the new store.
struct ExternalReplacement {
  let store: Store
  let data: DataPseudonyms
  let kept: KeptProperties

  /// - Returns: the name of the support folder; `nil` where the store has none.
  func write(
    beside pending: PendingOutput, _ report: inout AnonymizationReport, check: () throws -> Void
  ) throws -> String? {
    try noteAssets(&report)
    guard let target = try SupportTree.place(of: store.files, beside: pending.path),
      let support = try store.files.openSupportFolder()
    else { return nil }
    let name = FileSystem.name(of: target)
    let made = try pending.folder.createFolder(name)
    let inner = FileSystem.name(of: store.files.externalDataFolder)
    for other in try support.list() where other != inner {
      report.leftOut.append("\(FileSystem.name(of: support.path))/\(other)")
    }
    if let folder = try ExternalFolder(store.files).folder() {
      let output = try made.createFolder(inner)
      let keptNames = try keptFiles()
      for file in try folder.list() {
        try check()
        try write(file, of: folder, to: output, isKept: keptNames.contains(file), &report)
      }
    }
    try pending.sync(name)
    return name
  }

  /// The mirror's copies of records, beside the store.
  private func noteAssets(_ report: inout AnonymizationReport) throws {
    report.leftOut += store.files.mirrorAssets.map(FileSystem.name)
  }

  /// Files whose content stays.
  private func keptFiles() throws -> Set<String> {
    guard !kept.list.isEmpty else { return [] }
    var names: Set<String> = []
    for file in try store.externalFiles(limit: .max).files {
      guard let object = file.object, let property = file.property,
        let first = property.split(separator: ".").first,
        let owner = store.model.declaringEntity(of: String(first), in: object.entity),
        kept.contains(owner, property)
      else { continue }
      names.insert(file.name)
    }
    return names
  }

  private func write(
    _ name: String, of folder: Folder, to output: Folder, isKept: Bool,
    _ report: inout AnonymizationReport
  ) throws {
    guard StoreFiles.isExternalName(name), try folder.entry(name)?.kind == .file else {
      report.leftOut.append(name)
      return
    }
    do {
      guard let file = try folder.file(name) else { return }
      let made = try output.create(data.names.text(name))
      if isKept {
        try FileSystem.copy(file, into: made) { _ in }
      } else if file.size <= DataPseudonyms.largest {
        try made.append(data.data(try file.read(at: 0, count: file.size)))
      } else {
        try writeLarge(file, to: made)
      }
      try made.sync()
      report.files += 1
    } catch let error as CoreDataError where error.kind == .unreadable {
      report.leftOut.append("\(name) (\(error.message))")
    }
  }

  /// A file that is too large to be held: its beginning decides what it is.
  private func writeLarge(_ file: OpenFile, to made: NewFile) throws {
    var stream = KeyedStream(data.names.hash, Array("file \(try file.sha256())".utf8))
    let piece = 1 << 20
    var place = 0
    while place < file.size {
      let count = min(piece, file.size - place)
      try made.append(
        place == 0 ? data.file(try file.read(at: 0, count: count)) : stream.bytes(count))
      place += count
    }
  }
}
