import ManagedModel
import ManagedStore

/// What the interface knows of the store from opening it: all but its rows.
package struct StoreSummary: Sendable, Equatable {
  /// Where it is, as it was opened.
  package var path: String
  var fileName: String
  var model: Model
  var modelMatches: Bool
  /// Whether the store has no model, so that tables and columns are shown as they are.
  var isRaw: Bool
  /// The UUID of its metadata.
  package var uuid: String
  var walFrames: Int
  /// How it is read: itself, a private copy, or beside a program that has it open.
  package var access: StoreFiles.Access
  var warnings: [String]
  /// What of the store's rows is lost or may be, in a few words.
  var gap: String?
  /// The columns of each entity that the store has a table for.
  var columns: [String: [RowColumn]]
  /// Where they are kept, for compiling filters.
  let layout: StoreLayout
  /// Entities whose table is missing in the file.
  var missing: Set<String>

  /// A summary; what is left out is as in a plain store.
  ///
  /// - Parameter hashes: the model's version hashes, where they are known already.
  package init(
    path: String, fileName: String, model: Model, modelMatches: Bool, isRaw: Bool = false,
    uuid: String, walFrames: Int = 0, access: StoreFiles.Access = .immutable,
    warnings: [String] = [], gap: String? = nil, columns: [String: [RowColumn]],
    tables: [EntityTable] = [], missing: Set<String> = [], hashes: [String: VersionHash]? = nil
  ) {
    self.path = path
    self.fileName = fileName
    self.model = model
    self.modelMatches = modelMatches
    self.isRaw = isRaw
    self.uuid = uuid
    self.walFrames = walFrames
    self.access = access
    self.warnings = warnings
    self.gap = gap
    self.columns = columns
    self.missing = missing
    layout = StoreLayout(path: path, uuid: uuid, model: model, entityTables: tables)
    let digest =
      ByteText.bytes(base64: Model.versionHashesDigest(of: hashes ?? model.versionHashes)) ?? []
    hashPrefix = ByteText.hex(digest.prefix(4)).uppercased()
  }

  /// What was deleted from a store has none of its troubles.
  package mutating func showAsRemains() {
    fileName += ": deleted and older"
    (warnings, gap, walFrames, modelMatches) = ([], nil, 0, true)
  }

  /// The first digits of the digest of all version hashes.
  let hashPrefix: String
}
