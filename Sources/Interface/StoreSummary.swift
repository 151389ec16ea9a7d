import ManagedModel
import ManagedStore

/// What the interface knows of the store from opening it: all but its rows.
package struct StoreSummary: Sendable, Equatable {
  package var path: String
  package var fileName: String
  package var model: Model
  package var modelMatches: Bool
  /// Whether the store has no model, so that tables and columns are shown as they are.
  package var isRaw: Bool
  package var uuid: String
  package var walFrames: Int
  package var access: StoreFiles.Access
  package var warnings: [String]
  /// What of the store's rows is lost or may be, in a few words.
  package var gap: String?
  /// The columns of each entity that the store has a table for.
  package var columns: [String: [RowColumn]]
  /// Where they are kept, for compiling filters.
  package let layout: StoreLayout
  /// Entities whose table is missing in the file.
  package var missing: Set<String>

  package init(
    path: String, fileName: String, model: Model, modelMatches: Bool, isRaw: Bool = false,
    uuid: String,
    walFrames: Int = 0, access: StoreFiles.Access = .immutable, warnings: [String] = [],
    gap: String? = nil,
    columns: [String: [RowColumn]], tables: [EntityTable] = [], missing: Set<String> = []
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
    let digest = ByteText.bytes(base64: model.versionHashesDigest) ?? []
    hashPrefix = ByteText.hex(digest.prefix(4)).uppercased()
  }

  /// The first digits of the digest of all version hashes.
  package let hashPrefix: String
}
