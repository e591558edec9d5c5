"""A diagnosis as one HTML file that opens offline: text, and charts to look closer at."""

from traindx.report.page.page import html_document, write_html

__all__ = ["html_document", "write_html"]
