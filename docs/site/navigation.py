# SPDX-License-Identifier: BSL-1.0
"""What the site's navigation has: groups of documents, and under one those that go with it. A document that is not
there is left out; a page of doxygen's is named as it is in the site."""

NAVIGATION = [
    ("Use", [
        ("docs/site/index.md", "What byre is"),
        ("README.md", "Build and embed"),
        ("docs/guide.md", "Guide", [("docs/answers.md", "Answers"), ("docs/trace.md", "Why was this copied?")]),
        ("docs/parts.md", "Parts of large data"),
        ("docs/reshape.md", "Reshape"),
        ("docs/functionalization.md", "Functionalization"),
        ("docs/vulkan.md", "A Vulkan device"),
        ("docs/python.md", "Python"),
        ("docs/api.md", "API", [("api/annotated.html", "All classes"), ("docs/tensor-states.md", "States of tensors")]),
        ("examples/README.md", "Examples"),
    ]),
    ("Cost", [
        ("docs/performance.md", "Performance", [("docs/costs.md", "What a write costs")]),
    ]),
    ("Trust", [
        ("docs/trust.md", "What is checked"),
        ("docs/protocol.md", "Protocol"),
        ("docs/proof.md", "Proof"),
        ("docs/verification.md", "Verification"),
        ("docs/stress.md", "Stress", [("docs/stress-seeded-bugs.md", "Seeded bugs"),
                                      ("docs/fuzzing.md", "Fuzzing")]),
    ]),
    ("Develop", [
        ("docs/changing.md", "Changing byre"),
        ("docs/glossary.md", "Glossary"),
        ("CHANGELOG.md", "Changes"),
    ]),
]
