import Files
import ManagedModel
import ManagedStore
import SwiftModels
import TestSupport
import Testing

@Suite("Version hashes out of Swift source")
struct HashVectorTests {
  @Test("composites hash as SwiftData made them")
  func composites() throws {
    let hashes = try model(
      """
      @Model final class Ingredient {
        var id: UUID = UUID()
        var ingredientBase: IngredientBase
        var unit: MeasurementUnit
        var value: Double
      }
      enum MeasurementUnit: String, Codable, CaseIterable { case fluidOunces = "oz", dashes }

      @Model class CocktailImage {
        var drinkColor: Color.Resolved
        var backgroundColor: SwiftUI.Color.Resolved
        var glassBackLayer: String, glassReflection: String, innerRim: String, drinkLayer: String
        var iceLayer: String?
        var straw: String? = nil
        var garnishes: [String]?
        var inDrinkComponents: [String: Int]?
      }

      @Model class IngredientBase {
        @Attribute(.unique) let name: String
        var info: String?
        var category: Category
        var tags: Tags?
        var isCustom: Bool
        var prep: Prep?
        enum Category: String, Codable { case gins, liqueurs }
      }
      struct Tags: Codable { var flavors: [Flavor]?; var profiles: [String]; var styles: [String]?; var booze: [String]; var nA: [String]? }
      enum Flavor: String, Codable { case sweet }
      struct Prep: Codable, Hashable { var id = UUID(); var prepIngredientName: String; var prepRecipe: [Step] }
      struct Step: Codable, Hashable { var step: String }
      """
    ).model.versionHashes
    #expect(
      hashes["Ingredient"]?.hex
        == "4a3b9f32df42aee19eb186b6ad03ad57c96cd3fb4532671a4063da2002cfc61a")
    #expect(
      hashes["CocktailImage"]?.hex
        == "e5242d181d1eb8e5b999d0e19f84b74db5c473219db44416e51022dfab605201")
    #expect(
      hashes["IngredientBase"]?.hex
        == "b7204663387a5680bdfd9bed01991300dbeccf23d6a9eba4f9902b6341dfac0e")
  }

  @Test("a plain entity hashes as Core Data's")
  func plain() throws {
    let hashes = try model("@Model class User { var name: String; var petName: String? }")
    #expect(
      hashes.model.versionHashes["User"]?.hex
        == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
    #expect(
      hashes.model.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
  }

  private func cart(_ version: String) throws -> Model {
    let files = try Fixtures.contents(of: "cartkit/\(version)")
    let found = SourceModels(files.map { .init(path: $0.key, bytes: $0.value) })
    #expect(found.remarks.isEmpty)
    return try #require(found.current).model
  }

  @Test(
    "source of CartKit has the hashes that are in its store",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func cartKit() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: folder.copy(fixture: "cartkit/CartKitSwiftData_v1.sqlite"))
    let first = try cart("swiftdata-v1")
    #expect(first.versionHashes == store.model.versionHashes)
    #expect(first.versionHashes.count == 3)
    #expect(first.versionChecksum == "2wsb3KxvOg2fCKAI7XTcqex2LnE5kpf6CjcDP/Srhao=")
    // What the later versions did not touch is as it was.
    for version in ["swiftdata-v2", "swiftdata-v3"] {
      let hashes = try cart(version).versionHashes
      #expect(hashes["CartItemModel"] == first.versionHashes["CartItemModel"])
      #expect(hashes["CartItemModifierModel"] == first.versionHashes["CartItemModifierModel"])
      #expect(hashes["CartModel"] != first.versionHashes["CartModel"])
    }
    let second = try cart("swiftdata-v2").entity(named: "CartModel")
    #expect(
      second?.attribute(named: "sessionId") == Attribute("sessionId", .string, optional: true))
    let third = try cart("swiftdata-v3").entity(named: "CartModel")
    #expect(
      third?.attribute(named: "promotionKindsJSON")
        == Attribute("promotionKindsJSON", .binary, optional: true))
  }
}
