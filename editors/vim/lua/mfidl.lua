-- The language server of MF/IDL in Neovim, from 0.7 on: require('mfidl').setup()
local M = {}

-- options: cmd (the command), import_paths (folders, below the root of the project or absolute), on_attach,
-- capabilities.
function M.setup(options)
  options = options or {}
  local function start(buffer)
    local file = vim.api.nvim_buf_get_name(buffer)
    local above = vim.fs and vim.fs.find({ 'mfidl.toml', '.git' }, { upward = true, path = file })[1]
    local root = above and vim.fs.dirname(above) or vim.fn.getcwd()
    local config = {
      name = 'mfidl',
      cmd = options.cmd or { 'mfidlc', 'lsp' },
      root_dir = root,
      init_options = { importPaths = options.import_paths or {} },
      on_attach = options.on_attach,
      capabilities = options.capabilities or vim.lsp.protocol.make_client_capabilities(),
    }
    if vim.lsp.start then
      vim.lsp.start(config, { bufnr = buffer })
      return
    end
    config.workspace_folders = { { uri = vim.uri_from_fname(root), name = root } }
    M.client = M.client or vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(buffer, M.client)
  end
  vim.api.nvim_create_autocmd('FileType', {
    pattern = 'mfidl',
    callback = function(event)
      start(event.buf)
    end,
  })
end

return M
