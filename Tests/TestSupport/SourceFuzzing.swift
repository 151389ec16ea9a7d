import ManagedModel
import SwiftModels

extension Fuzzing {
  /// Swift source with all that the reader of SwiftData models looks for, and what might confuse it.
  public static let swiftSources = [versionedSource, hostileSource]

  /// The reader of Swift source.
  public static let swiftTarget = Target(
    "Swift source", corpus: swiftSources.map { Array($0.utf8) }
  ) { bytes in
    let half = bytes.count / 2
    for files in [[bytes], [Array(bytes[..<half]), Array(bytes[half...])]] {
      let models = SourceModels(
        files.enumerated().map { .init(path: "\($0.offset).swift", bytes: $0.element) })
      for version in models.versions { _ = try version.model.versionHashes }
    }
  }

  private static let versionedSource = """
    import SwiftData
    enum SchemaV1: VersionedSchema {
      static var versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self, Owner.self] + Base.models }
      @Model final class Item {
        #Unique<Item>([\\.name], [\\.code, \\.kind])
        #Index<Item>([\\.name], .rtree([\\.x, \\.y]))
        @Attribute(.unique, .externalStorage, originalName: "title", hashModifier: "2")
        public private(set) var name: String = "a\\u{41}"
        var code = 1_000, ratio = -1.5e-3, isOn = true
        var kind: Kind = Kind.first { didSet { print("{") } }
        var tags: [String: [Int]]? = nil
        @Attribute(.transformable(by: "Named")) var color: Color?
        var tint: Color.Resolved
        var address: Address?
        @Transient var cache: [Int] = []
        var words: Int { name.count }
        @Relationship(deleteRule: .cascade, minimumModelCount: 1, inverse: \\Owner.items)
        var owner: Owner?
        init(name: String) { self.name = name }
      }
    }
    extension SchemaV1 { @Model class Owner: Base { var items: [Item] = [] } }
    @Model class Base { var id = UUID(); var at = Date.now }
    enum Kind: String, Codable, CaseIterable { case first = "1", second }
    struct Address: Codable { let street: String; var lines: [String]; var place: Place? }
    enum Place: Codable { case here, there(Int, at: Date) }
    typealias Current = SchemaV1
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, Current.self] }
      static var stages: [MigrationStage] { [step, .lightweight(fromVersion: SchemaV1.self, toVersion: Current.self)] }
      static let step = MigrationStage.custom(fromVersion: SchemaV1.self, toVersion: Current.self, willMigrate: { _ in }, didMigrate: nil)
    }
    let container = try ModelContainer(for: SchemaV1.Item.self, Base.self, migrationPlan: Plan.self)
    """

  private static let hostileSource = ##"""
    #!/usr/bin/swift
    /* outer /* inner { */ } */
    #if os(iOS) // {
    @available(iOS 17, *) @Model
    #else
    @SwiftData.Model
    #endif
    public final class Odd<T> where T: Hashable {
      let raw = #"a " } \( \#(1 + ")".count) "#
      var text = """
        { "quoted" \("nested \("deep { \(1)")") }
        """
      let pattern = /[}"]{2}\/x/ ; let other = #/ " } /#
      @Wrapper(wrappedValue: { 1 }()) var a: Int
      var `class`: Swift.Optional<Array<Set<String>>>, b, c: (Int, String) -> Void
      lazy var d = { (x: Int) -> Int in x < 2 ? 1 : 2 }(1)
      var e = Array<Dictionary<String, Int>>()
        .map { $0.count }
      #Preview("A") { Text("}") } modifiers: { $0 }
    #if false
      }
    #endif
      func < (l: Int, r: Int) -> Bool { return l / r / 2 > 1 }
      subscript<U>(u: U) -> Int { get { 1 } set { } }
      case odd
    }
    """##
}
